package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

// softEmbed runs SoftEmbed on processed logits.
func softEmbed(t *testing.T, team *Team, logits []float32, rows int, table Matrix, s float32, round Rounding) []float32 {
	t.Helper()
	l := NewLogits(Vocabulary{Size: table.Rows}, rows, round)
	if err := l.Set(logits); err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, rows*table.Cols)
	for i := range dst {
		dst[i] = nan32 // what was there must not matter
	}
	team.SoftEmbed(dst, l, table, s, &SoftScratch{})
	return dst
}

// The micro example of model.md §4, from the logits to the module's output.
func TestSelfConditioningExample(t *testing.T) {
	team := newTeam(t, 1)
	matrix := func(v ...float32) Matrix { return newMatrix(t, dtype.F32, len(v)/2, 2, v) }
	table := matrix(1, 0, 0, 1, 1, 1)
	root := float32(math.Sqrt2)
	const eps = 1e-6

	z := softEmbed(t, team, []float32{2, 1, 0}, 1, table, root, F32)
	near(t, "signal", z, []float64{1.068115, 0.473421}, 2e-6)
	n, gate, up, f, e := make([]float32, 2), make([]float32, 2), make([]float32, 2), make([]float32, 2), make([]float32, 2)
	team.RMSNorm(n, z, []float32{1, 1}, 1, eps, F32)
	near(t, "pre_norm", n, []float64{1.292906, 0.573055}, 2e-6)
	team.Linear(gate, n, 1, matrix(1, 0, 0, 1), F32)
	team.Linear(up, n, 1, matrix(1, 1, 1, -1), F32)
	near(t, "up", up, []float64{1.865960, 0.719851}, 2e-6)
	team.GELUMulSplit(f, gate, up, 1, 2, F32)
	near(t, "product", f, []float64{2.175604, 0.295627}, 2e-6)
	team.Linear(f, slices.Clone(f), 1, matrix(1, 0, 0, 1), F32)
	team.Embed(e, []int32{0}, table, root, F32)

	first := slices.Clone(e)
	team.RMSNorm(first, first, nil, 1, eps, F32)
	near(t, "first step", first, []float64{1.414213, 0}, 2e-6)
	team.Add(e, e, f, 1, F32)
	near(t, "sum", e, []float64{3.589818, 0.295627}, 3e-6)
	team.RMSNorm(e, e, nil, 1, eps, F32)
	near(t, "post_norm", e, []float64{1.409442, 0.116070}, 2e-6)
}

// vocabularies meet one id, the width of a panel and of a chunk, and more.
var vocabularies = []int{1, 2, 255, 256, 257, softChunk - 1, softChunk, softChunk + 1, 2*softChunk + 77}

func TestSoftEmbedIsTheExpectation(t *testing.T) {
	r := newRandom(1)
	for _, size := range vocabularies {
		const rows, n, s = 3, softColumns + 5, 53
		v := uniforms(r, size*n, 1)
		table := newMatrix(t, dtype.F32, size, n, v)
		logits := uniforms(r, rows*size, 16)
		got := softEmbed(t, newTeam(t, 2), logits, rows, table, s, F32)
		for row := range rows {
			z := logits[row*size : (row+1)*size]
			want, sum := make([]float64, n), 0.0
			for id, x := range z {
				e := math.Exp(float64(x))
				sum += e
				for i := range want {
					want[i] += e * float64(v[id*n+i])
				}
			}
			for i := range want {
				want[i] *= s / sum
			}
			near(t, fmt.Sprintf("vocabulary of %d, row %d", size, row), got[row*n:(row+1)*n], want, 53*2e-6)
		}
	}
}

// The definition bit for bit: kept logits, their softmax in panels, rounded
// probabilities, a sum over ascending ids, rounded before and after the scale.
func TestSoftEmbedDefinition(t *testing.T) {
	eachArithmetic(t, func(t *testing.T, typ dtype.Type, round Rounding) {
		const rows, size, n, s = 2, softChunk + 300, softColumns + 3, 7.5
		r := newRandom(2)
		v := uniforms(r, size*n, 1)
		table, stored := newMatrix(t, typ, size, n, v), storedValues(typ, round, v)
		logits := uniforms(r, rows*size, 8)
		got := softEmbed(t, newTeam(t, 1), logits, rows, table, s, round)
		for row := range rows {
			z := roundedTo(round, logits[row*size:(row+1)*size])
			top := slices.Max(z)
			var sum float64
			for first := 0; first < size; first += VocabPanel {
				var part float64
				for _, x := range z[first:min(size, first+VocabPanel)] {
					part += float64(exp32(x - top))
				}
				sum += part
			}
			want := make([]float32, n)
			for id, x := range z {
				p := round.value(exp32(x-top) / float32(sum))
				for i := range want {
					want[i] += float32(p * stored[id*n+i])
				}
			}
			for i, x := range want {
				want[i] = round.value(float32(round.value(x) * s))
			}
			sameBits(t, fmt.Sprintf("row %d", row), got[row*n:(row+1)*n], want)
		}
	})
}

// TestSoftEmbedOfBlocks asks the same bits of a table in blocks and of the float32
// table of its values, whatever the threads: of the soft embedding,
// and of the product and the lookup that read the same table.
func TestSoftEmbedOfBlocks(t *testing.T) {
	eachClass(t, func(t *testing.T, k *Kernels) {
		for _, m := range blockMatrices(t, 71, 2) {
			for _, round := range []Rounding{F32, BF16} {
				plain := newMatrix(t, dtype.F32, m.Rows, m.Cols, decoded(t, m, round))
				const rows = 3
				logits := roundedTo(round, uniforms(newRandom(5), rows*m.Rows, 8))
				x := roundedTo(round, uniforms(newRandom(6), rows*m.Cols, 1))
				ids := []int32{70, 0, 33}
				for _, threads := range threadCounts {
					team := teamOf(t, k, threads)
					name := fmt.Sprintf("%v, %s, %d threads: ", m.format, roundingName(round), threads)
					got := softEmbed(t, team, logits, rows, m, 16, round)
					sameBits(t, name+"soft embedding", got, softEmbed(t, team, logits, rows, plain, 16, round))
					a, b := make([]float32, rows*m.Rows), make([]float32, rows*m.Rows)
					team.Linear(a, x, rows, m, round)
					team.Linear(b, x, rows, plain, round)
					sameBits(t, name+"product", a, b)
					a, b = make([]float32, rows*m.Cols), make([]float32, rows*m.Cols)
					team.Embed(a, ids, m, 16, round)
					team.Embed(b, ids, plain, 16, round)
					sameBits(t, name+"lookup", a, b)
				}
			}
		}
	})
}

func TestSoftEmbedRowAlone(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		for _, round := range []Rounding{F32, BF16} {
			const rows, size, n = 9, softChunk + 1, 2*softColumns + 1
			r := newRandom(3)
			table := newMatrix(t, dtype.BF16, size, n, uniforms(r, size*n, 1))
			logits := uniforms(r, rows*size, 8)
			logits[4*size+17] = nan32
			want := softEmbed(t, teamOf(t, kernels, 1), logits, rows, table, 53, round)
			for _, threads := range threadCounts {
				team := teamOf(t, kernels, threads)
				sameBits(t, fmt.Sprintf("%d threads", threads), softEmbed(t, team, logits, rows, table, 53, round), want)
				for row := range rows {
					w := want[row*n : (row+1)*n]
					alone := softEmbed(t, team, logits[row*size:(row+1)*size], 1, table, 53, round)
					if row == 4 {
						if Finite(w[:1]) || Finite(alone[:1]) {
							t.Errorf("NaN got lost")
						}
						continue
					}
					sameBits(t, fmt.Sprintf("row %d", row), alone, w)
					if !Finite(w) {
						t.Errorf("row %d is not finite", row)
					}
				}
			}
		}
	})
}

// The scratch memory may have served a larger call before.
func TestSoftEmbedReusesScratch(t *testing.T) {
	team := newTeam(t, 2)
	r := newRandom(4)
	var scratch SoftScratch
	for _, c := range []struct{ rows, size, n int }{{7, 5000, 70}, {2, 300, 9}, {9, 4500, 65}} {
		table := newMatrix(t, dtype.F32, c.size, c.n, uniforms(r, c.size*c.n, 1))
		logits := uniforms(r, c.rows*c.size, 8)
		l := NewLogits(Vocabulary{Size: c.size}, c.rows, F32)
		if err := l.Set(logits); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, c.rows*c.n)
		team.SoftEmbed(got, l, table, 2, &scratch)
		sameBits(t, fmt.Sprintf("%+v", c), got, softEmbed(t, team, logits, c.rows, table, 2, F32))
	}
}
