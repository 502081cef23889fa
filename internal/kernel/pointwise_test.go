package kernel

import (
	"fmt"
	"math"
	"testing"
)

// rowCounts meet the single row, part of a work item and several items.
var rowCounts = []int{0, 1, 7, 8, 9, 25}

func TestRMSNorm(t *testing.T) {
	r := newRandom(1)
	const eps = 1e-6
	for _, n := range []int{1, 2, 5, 16, 33, 2816} {
		x, w := uniforms(r, n, 8), uniforms(r, n, 2)
		var sum float64
		for _, v := range x {
			sum += float64(v) * float64(v)
		}
		scale := 1 / math.Sqrt(sum/float64(n)+eps)
		plain, weighted := make([]float64, n), make([]float64, n)
		for i, v := range x {
			plain[i] = float64(v) * scale
			weighted[i] = plain[i] * float64(w[i])
		}
		got := make([]float32, n)
		rmsNormGeneric(got, x, nil, eps, F32)
		near(t, "without weight", got, plain, 1e-6*8)
		rmsNormGeneric(got, x, w, eps, F32)
		near(t, "with weight", got, weighted, 2e-6*8)

		rounded := make([]float32, n)
		rmsNormGeneric(rounded, x, w, eps, BF16)
		sameBits(t, "bf16 rounds once, at the end", rounded, roundedTo(BF16, got))
	}
}

func TestRMSNormEdges(t *testing.T) {
	zero := make([]float32, 4)
	got := []float32{1, 1, 1, 1}
	rmsNormGeneric(got, zero, nil, 1e-6, F32)
	sameBits(t, "zeros", got, zero)

	// A square that overflows float32 does no harm, as the sum is kept in float64.
	rmsNormGeneric(got, []float32{3e19, 0, 0, 0}, nil, 1e-6, F32)
	near(t, "large values", got, []float64{2, 0, 0, 0}, 1e-6)

	rmsNormGeneric(got, []float32{1, nan32, 0, 0}, nil, 1e-6, F32)
	if Finite(got[:1]) {
		t.Errorf("NaN got lost: %v", got)
	}
}

func TestRMSNormRowsAndInPlace(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		r := newRandom(2)
		for _, threads := range threadCounts {
			team := teamOf(t, kernels, threads)
			for _, rows := range rowCounts {
				const n = 37
				x, w := uniforms(r, rows*n, 4), uniforms(r, n, 2)
				want := make([]float32, rows*n)
				for row := range rows {
					kernels.set.rmsNorm(want[row*n:(row+1)*n], x[row*n:(row+1)*n], w, 1e-6, BF16)
				}
				got := make([]float32, rows*n)
				team.RMSNorm(got, x, w, rows, 1e-6, BF16)
				sameBits(t, fmt.Sprintf("%d rows", rows), got, want)
				team.RMSNorm(x, x, w, rows, 1e-6, BF16)
				sameBits(t, fmt.Sprintf("%d rows in place", rows), x, want)
			}
		}
	})
}

// The check values of model.md §3.1.
func TestGELUValues(t *testing.T) {
	for _, c := range []struct {
		x    float32
		want float64
	}{
		{-3, -0.00363739}, {-1, -0.15880801}, {-0.5, -0.15428599}, {0, 0},
		{0.5, 0.34571401}, {1, 0.84119199}, {3, 2.99636261},
	} {
		near(t, fmt.Sprintf("gelu(%v)", c.x), []float32{gelu(c.x)}, []float64{c.want}, 3e-7)
	}
	for _, x := range []float32{10, 1e10, math.MaxFloat32} {
		if got := gelu(x); got != x {
			t.Errorf("gelu(%v) = %v", x, got)
		}
		if got := gelu(-x); got != 0 {
			t.Errorf("gelu(%v) = %v", -x, got)
		}
	}
	if got := gelu(nan32); got == got {
		t.Errorf("gelu(NaN) = %v", got)
	}
}

func TestGELUIsTheTanhForm(t *testing.T) {
	var w worst
	for i := range 20_001 {
		x := float32(i-10_000) / 1024
		v := float64(x)
		want := 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
		w.see(math.Abs(float64(gelu(x))-want), v)
	}
	w.within(t, "gelu, absolute", 6e-7)
}

func TestGELUMul(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		r := newRandom(3)
		for _, round := range []Rounding{F32, BF16} {
			for _, rows := range rowCounts {
				const n = 21
				x := roundedTo(round, uniforms(r, rows*2*n, 4))
				gate, up := make([]float32, 0, rows*n), make([]float32, 0, rows*n)
				want := make([]float64, 0, rows*n)
				for row := range rows {
					at := row * 2 * n
					gate, up = append(gate, x[at:at+n]...), append(up, x[at+n:at+2*n]...)
				}
				for i, g := range gate {
					want = append(want, float64(round.value(gelu(g)))*float64(up[i]))
				}
				tolerance := 1e-5
				if round == BF16 {
					tolerance = 16.0 / 512 // half a unit of the largest products
				}
				for _, threads := range threadCounts {
					team := teamOf(t, kernels, threads)
					joined, split := make([]float32, rows*n), make([]float32, rows*n)
					team.GELUMul(joined, x, rows, n, round)
					near(t, "GELUMul", joined, want, tolerance)
					sameBits(t, "is rounded", joined, roundedTo(round, joined))
					team.GELUMulSplit(split, gate, up, rows, n, round)
					sameBits(t, "GELUMulSplit", split, joined)
				}
			}
		}
	})
}

func TestGELUMulRoundsTwice(t *testing.T) {
	gate, up := uniforms(newRandom(4), 100, 2), uniforms(newRandom(5), 100, 2)
	got := make([]float32, 100)
	geluMulGeneric(got, gate, up, BF16)
	for i, g := range gate {
		want := bf16(float32(bf16(gelu(g)) * up[i]))
		sameBits(t, fmt.Sprintf("value %d", i), got[i:i+1], []float32{want})
	}
}

func TestAddAndAddScale(t *testing.T) {
	r := newRandom(6)
	for _, threads := range threadCounts {
		team := newTeam(t, threads)
		for _, round := range []Rounding{F32, BF16} {
			for _, rows := range rowCounts {
				const n, s = 11, 0.7
				a, b := uniforms(r, rows*n, 4), uniforms(r, rows*n, 4)
				sum, scaled := make([]float32, rows*n), make([]float32, rows*n)
				for i := range sum {
					sum[i] = round.value(a[i] + b[i])
					scaled[i] = round.value(float32(sum[i] * s))
				}
				got := make([]float32, rows*n)
				team.Add(got, a, b, rows, round)
				sameBits(t, "Add", got, sum)
				copy(got, a)
				team.Add(got, got, b, rows, round)
				sameBits(t, "Add in place", got, sum)
				team.AddScale(a, b, rows, s, round)
				sameBits(t, "AddScale", a, scaled)
			}
		}
	}
}

func TestFirstNonFinite(t *testing.T) {
	team := newTeam(t, 2)
	x := uniforms(newRandom(7), 20*5, 1)
	if got := team.FirstNonFinite(x, 20); got != -1 {
		t.Errorf("all finite: %d", got)
	}
	x[99], x[13*5+2] = negInf, nan32
	if got := team.FirstNonFinite(x, 20); got != 13 {
		t.Errorf("rows 13 and 19: %d", got)
	}
	if got := team.FirstNonFinite(nil, 0); got != -1 {
		t.Errorf("no rows: %d", got)
	}
}
