package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The example of model.md §3.2.
func TestRouteExample(t *testing.T) {
	ids, weights := make([]int32, 2), make([]float32, 2)
	scores := []float32{2, 0.5, 1, -1}
	newTeam(t, 1).Route(ids, weights, scores, []float32{1, 1, 1, 1}, 1, 2)
	near(t, "probabilities", scores, []float64{0.609460, 0.135989, 0.224208, 0.030343}, 1e-6)
	if !slices.Equal(ids, []int32{0, 2}) {
		t.Errorf("experts %v", ids)
	}
	near(t, "weights", weights, []float64{0.731059, 0.268941}, 1e-6)
}

// The weights are the softmax over the chosen scores, times the expert's scale.
func TestRoute(t *testing.T) {
	r := newRandom(1)
	for _, size := range []struct{ rows, experts, k int }{
		{1, 1, 1}, {3, 4, 4}, {9, 8, 1}, {17, 128, 8},
	} {
		scores := uniforms(r, size.rows*size.experts, 8)
		scale := uniforms(r, size.experts, 2)
		var first []float32
		for _, threads := range threadCounts {
			team := newTeam(t, threads)
			ids, weights := make([]int32, size.rows*size.k), make([]float32, size.rows*size.k)
			team.Route(ids, weights, slices.Clone(scores), scale, size.rows, size.k)
			for row := range size.rows {
				s := scores[row*size.experts : (row+1)*size.experts]
				chosen := ids[row*size.k : (row+1)*size.k]
				var sum float64
				for i, e := range chosen {
					sum += math.Exp(float64(s[e]))
					if i > 0 && s[e] > s[chosen[i-1]] {
						t.Errorf("row %d: experts %v are not in descending order", row, chosen)
					}
				}
				for i, e := range chosen {
					want := math.Exp(float64(s[e])) / sum * float64(scale[e])
					near(t, "weight", weights[row*size.k+i:][:1], []float64{want}, 1e-6)
				}
				alone, own := make([]int32, size.k), make([]float32, size.k)
				team.Route(alone, own, slices.Clone(s), scale, 1, size.k)
				if !slices.Equal(alone, chosen) {
					t.Errorf("row %d chooses %v alone and %v among others", row, alone, chosen)
				}
				sameBits(t, "a row alone", own, weights[row*size.k:(row+1)*size.k])
			}
			if first == nil {
				first = weights
			}
			sameBits(t, fmt.Sprintf("%d threads", threads), weights, first)
		}
	}
}

// NaN among the scores gives NaN weights and no panic; other rows are untouched.
func TestRouteNaN(t *testing.T) {
	team := newTeam(t, 1)
	scores := append([]float32{1, nan32, 3, 2}, 2, 0.5, 1, -1)
	ids, weights := make([]int32, 4), make([]float32, 4)
	team.Route(ids, weights, scores, []float32{1, 1, 1, 1}, 2, 2)
	if Finite(weights[:1]) || Finite(weights[1:2]) {
		t.Errorf("weights %v", weights[:2])
	}
	near(t, "the other row", weights[2:], []float64{0.731059, 0.268941}, 1e-6)
}

func TestRouterScale(t *testing.T) {
	const rows, n, eps = 9, 24, 1e-6
	r := newRandom(2)
	x, scale := uniforms(r, rows*n, 4), uniforms(r, n, 2)
	root := float32(1 / math.Sqrt(n))
	for _, round := range []Rounding{F32, BF16} {
		for _, threads := range threadCounts {
			got := make([]float32, rows*n)
			newTeam(t, threads).RouterScale(got, x, scale, rows, eps, root, round)
			for row := range rows {
				want := make([]float32, n)
				rmsNormGeneric(want, x[row*n:(row+1)*n], nil, eps, round)
				for i, s := range scale {
					want[i] = round.value(float32(round.value(float32(want[i]*s)) * root))
				}
				sameBits(t, fmt.Sprintf("row %d", row), got[row*n:(row+1)*n], want)
			}
		}
	}
}

// Group lists every assignment once, by expert, ascending within one, and its
// buffers do not carry anything over.
func TestGroup(t *testing.T) {
	var offsets, order []int
	rapid.Check(t, func(t *rapid.T) {
		experts := rapid.IntRange(1, 12).Draw(t, "experts")
		ids := rapid.SliceOfN(rapid.Int32Range(0, int32(experts-1)), 0, 40).Draw(t, "ids")
		offsets, order = Group(offsets, order, ids, experts)
		if len(offsets) != experts+1 || len(order) != len(ids) || offsets[0] != 0 || offsets[experts] != len(ids) {
			t.Fatalf("offsets %v, order %v", offsets, order)
		}
		for e := range experts {
			var want []int
			for i, id := range ids {
				if int(id) == e {
					want = append(want, i)
				}
			}
			if got := order[offsets[e]:offsets[e+1]]; !slices.Equal(got, want) {
				t.Fatalf("expert %d has %v, want %v", e, got, want)
			}
		}
	})
}

func TestGatherRows(t *testing.T) {
	const rows, per, n = 5, 3, 7
	x := uniforms(newRandom(3), rows*n, 1)
	order := []int{14, 0, 1, 2, 9, 8, 3, 14, 7, 12}
	for _, threads := range threadCounts {
		got := make([]float32, len(order)*n)
		newTeam(t, threads).GatherRows(got, x, order, per, n)
		for i, at := range order {
			sameBits(t, fmt.Sprintf("row %d", i), got[i*n:(i+1)*n], x[at/per*n:(at/per+1)*n])
		}
	}
}

// The outputs of a row are added in the order of its slots, wherever the
// experts' rows lie, and rounded once.
func TestMixExperts(t *testing.T) {
	const rows, k, n = 10, 4, 9
	r := newRandom(4)
	y, weights := uniforms(r, rows*k*n, 4), uniforms(r, rows*k, 1)
	place := r.Perm(rows * k)
	for _, round := range []Rounding{F32, BF16} {
		for _, threads := range threadCounts {
			got := uniforms(r, rows*n, 1) // what was there must not matter
			newTeam(t, threads).MixExperts(got, y, weights, place, rows, k, n, round)
			for row := range rows {
				want := make([]float32, n)
				for slot := range k {
					for i := range want {
						want[i] += float32(y[place[row*k+slot]*n+i] * weights[row*k+slot])
					}
				}
				sameBits(t, fmt.Sprintf("row %d", row), got[row*n:(row+1)*n], roundedTo(round, want))
			}
		}
	}
}

// Route, Group, GatherRows and MixExperts together bring each slot's row back.
func TestSlotsRoundTrip(t *testing.T) {
	const rows, experts, k, n = 13, 6, 2, 4
	team := newTeam(t, 2)
	r := newRandom(5)
	x := uniforms(r, rows*n, 1)
	ids, weights := make([]int32, rows*k), make([]float32, rows*k)
	team.Route(ids, weights, uniforms(r, rows*experts, 2), slices.Repeat([]float32{1}, experts), rows, k)
	_, order := Group(nil, nil, ids, experts)
	gathered := make([]float32, len(order)*n)
	team.GatherRows(gathered, x, order, k, n)
	place := make([]int, len(order))
	for i, slot := range order {
		place[slot] = i
	}
	got, want := make([]float32, rows*n), make([]float64, rows*n)
	team.MixExperts(got, gathered, weights, place, rows, k, n, F32)
	for i, v := range x { // the weights of a row sum to 1
		want[i] = float64(v)
	}
	near(t, "mix of identities", got, want, 1e-6)
}
