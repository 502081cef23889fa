package kernel

import (
	"fmt"
	"testing"
)

// oddSizes meet every tail of a product that works in blocks.
var oddSizes = []int{1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33}

// naiveProduct is the definition: one accumulator for each sum, ascending.
func naiveProduct(dst []float32, ldd int, x []float32, ldx, rows int, w []float32, n, k int) {
	for r := range rows {
		for c := range n {
			var s float32
			for i := range k {
				s += float32(x[r*ldx+i] * w[c*k+i])
			}
			dst[r*ldd+c] = s
		}
	}
}

func TestProductIsTheSequentialSum(t *testing.T) {
	r := newRandom(1)
	for _, rows := range oddSizes {
		for _, n := range oddSizes {
			for _, k := range oddSizes {
				ldd, ldx := n+rows%3, k+n%2
				x, w := uniforms(r, rows*ldx, 2), uniforms(r, n*k, 2)
				got, want := make([]float32, rows*ldd), make([]float32, rows*ldd)
				for i := range got { // what lies between the rows must stay
					got[i], want[i] = float32(i), float32(i)
				}
				productGeneric(got, ldd, x, ldx, rows, w, n, k)
				naiveProduct(want, ldd, x, ldx, rows, w, n, k)
				sameBits(t, fmt.Sprintf("%d rows, %d × %d", rows, n, k), got, want)
			}
		}
	}
}

// One row gives the same bits alone and among others, and so does one column.
func TestProductRowAlone(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		r := newRandom(2)
		for _, k := range oddSizes {
			const rows, n = 17, 33
			x, w := uniforms(r, rows*k, 2), uniforms(r, n*k, 2)
			all := make([]float32, rows*n)
			kernels.set.product(all, n, x, k, rows, w, n, k)
			for row := range rows {
				alone := make([]float32, n)
				kernels.set.product(alone, n, x[row*k:(row+1)*k], k, 1, w, n, k)
				sameBits(t, fmt.Sprintf("row %d of %d columns", row, k), alone, all[row*n:(row+1)*n])
			}
			for c := range n {
				alone := make([]float32, rows)
				kernels.set.product(alone, 1, x, k, rows, w[c*k:(c+1)*k], 1, k)
				for row := range rows {
					sameBits(t, "one column", alone[row:row+1], all[row*n+c:row*n+c+1])
				}
			}
		}
	})
}

// A value that is not finite stays in its row.
func TestProductKeepsRowsApart(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		const rows, n, k = 5, 7, 9
		r := newRandom(3)
		x, w := uniforms(r, rows*k, 2), uniforms(r, n*k, 2)
		want, got := make([]float32, rows*n), make([]float32, rows*n)
		kernels.set.product(want, n, x, k, rows, w, n, k)
		x[2*k+4] = nan32
		kernels.set.product(got, n, x, k, rows, w, n, k)
		for row := range rows {
			g, w := got[row*n:(row+1)*n], want[row*n:(row+1)*n]
			if row != 2 {
				sameBits(t, "a row beside NaN", g, w)
				continue
			}
			for _, v := range g {
				if v == v {
					t.Errorf("NaN got lost: %v", g)
				}
			}
		}
	})
}

func TestAccumulateIsTheSequentialSum(t *testing.T) {
	r := newRandom(4)
	for _, n := range oddSizes {
		for count := range 18 {
			ld := n + count%3
			v, p, start := uniforms(r, count*ld+n, 2), uniforms(r, count, 1), uniforms(r, n, 1)
			want := append([]float32(nil), start...)
			for i, f := range p {
				for j := range want {
					want[j] += float32(f * v[i*ld+j])
				}
			}
			got := append([]float32(nil), start...)
			accumulateGeneric(got, v, ld, p)
			sameBits(t, fmt.Sprintf("%d of %d", count, n), got, want)
		}
	}
}

// Adding factors in parts, cut anywhere, is adding them at once.
func TestAccumulateInParts(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		const n, count = 13, 19
		r := newRandom(5)
		v, p := uniforms(r, count*n, 2), uniforms(r, count, 1)
		whole := make([]float32, n)
		kernels.set.accumulate(whole, v, n, p)
		for cut := range count + 1 {
			parts := make([]float32, n)
			kernels.set.accumulate(parts, v, n, p[:cut])
			kernels.set.accumulate(parts, v[cut*n:], n, p[cut:])
			sameBits(t, fmt.Sprintf("cut at %d", cut), parts, whole)
		}
	})
}
