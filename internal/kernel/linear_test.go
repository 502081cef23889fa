package kernel

import (
	"fmt"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

var weightTypes = []dtype.Type{dtype.F32, dtype.BF16, dtype.F16}

// eachArithmetic runs f for every weight type and rounding.
func eachArithmetic(t *testing.T, f func(t *testing.T, typ dtype.Type, round Rounding)) {
	t.Helper()
	for _, typ := range weightTypes {
		for _, round := range []Rounding{F32, BF16} {
			t.Run(fmt.Sprintf("%v/%s", typ, roundingName(round)), func(t *testing.T) { f(t, typ, round) })
		}
	}
}

func roundingName(r Rounding) string {
	if r == BF16 {
		return "bf16"
	}
	return "f32"
}

func TestLinear(t *testing.T) {
	eachArithmetic(t, func(t *testing.T, typ dtype.Type, round Rounding) {
		r := newRandom(1)
		for _, threads := range threadCounts {
			team := newTeam(t, threads)
			for _, size := range []struct{ rows, n, k int }{
				{0, 5, 3},
				{1, 1, 1},
				{3, panelRows - 1, 7},
				{8, panelRows, 16},
				{5, panelRows + 1, 33},
				{17, 3*panelRows + 5, 31},
			} {
				v := uniforms(r, size.n*size.k, 1)
				w := newMatrix(t, typ, size.n, size.k, v)
				x := roundedTo(round, uniforms(r, size.rows*size.k, 2))
				got, want := make([]float32, size.rows*size.n), make([]float32, size.rows*size.n)
				team.Linear(got, x, size.rows, w, round)
				naiveProduct(want, size.n, x, size.k, size.rows, storedValues(typ, round, v), size.n, size.k)
				round.slice(want)
				sameBits(t, fmt.Sprintf("%+v, %d threads", size, threads), got, want)
			}
		}
	})
}

func TestLinearGrouped(t *testing.T) {
	eachArithmetic(t, func(t *testing.T, typ dtype.Type, round Rounding) {
		r := newRandom(2)
		for _, threads := range threadCounts {
			team := newTeam(t, threads)
			for _, offsets := range [][]int{
				{0},
				{0, 0},
				{0, 3},
				{0, 0, 4, 4, 5, 12, 12},
				{0, 1, 2, 3, 20, 20},
			} {
				for _, n := range []int{1, panelRows, panelRows + 3} {
					const k = 19
					groups, rows := len(offsets)-1, offsets[len(offsets)-1]
					v := uniforms(r, groups*n*k, 1)
					w := newMatrix(t, typ, groups*n, k, v)
					x := roundedTo(round, uniforms(r, rows*k, 2))
					got, want := make([]float32, rows*n), make([]float32, rows*n)
					team.LinearGrouped(got, x, offsets, w, n, round)
					stored := storedValues(typ, round, v)
					for g := range groups {
						lo, hi := offsets[g], offsets[g+1]
						naiveProduct(want[lo*n:], n, x[lo*k:], k, hi-lo, stored[g*n*k:(g+1)*n*k], n, k)
					}
					round.slice(want)
					sameBits(t, fmt.Sprintf("offsets %v, n %d, %d threads", offsets, n, threads), got, want)
				}
			}
		}
	})
}

// What a class computes for a row depends on that row alone.
func TestLinearRowAlone(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		for _, round := range []Rounding{F32, BF16} {
			const rows, n, k = 11, 70, 45
			r := newRandom(3)
			w := newMatrix(t, dtype.BF16, n, k, uniforms(r, n*k, 1))
			x := roundedTo(round, uniforms(r, rows*k, 2))
			all := make([]float32, rows*n)
			teamOf(t, kernels, 1).Linear(all, x, rows, w, round)
			for _, threads := range threadCounts {
				team := teamOf(t, kernels, threads)
				again := make([]float32, rows*n)
				team.Linear(again, x, rows, w, round)
				sameBits(t, fmt.Sprintf("%d threads", threads), again, all)
				for row := range rows {
					alone := make([]float32, n)
					team.Linear(alone, x[row*k:(row+1)*k], 1, w, round)
					sameBits(t, fmt.Sprintf("row %d", row), alone, all[row*n:(row+1)*n])
				}
			}
		}
	})
}
