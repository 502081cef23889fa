package kernel

import (
	"fmt"
	"math"
	"testing"
)

// vectorSizes are lengths around every vector width.
var vectorSizes = []int{1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100}

// eachVectorClass runs a test for every class of the machine but the reference.
func eachVectorClass(t *testing.T, f func(t *testing.T, s *set)) {
	for i, class := range Classes() {
		if class.Name == "generic" || !class.Available {
			continue
		}
		t.Run(class.Name, func(t *testing.T) { f(t, classes[i].set) })
	}
}

// closeTo fails where got is further from want than a relative and an absolute bound.
func closeTo(t *testing.T, what string, got, want []float32, relative, absolute float64) {
	t.Helper()
	for i, w := range want {
		g := float64(got[i])
		if got[i] == w { // infinities among them
			continue
		}
		if math.IsNaN(float64(w)) {
			if !math.IsNaN(g) {
				t.Errorf("%s: value %d is %v, want NaN", what, i, g)
			}
			continue
		}
		if d := math.Abs(g - float64(w)); !(d <= relative*math.Abs(float64(w))+absolute) {
			t.Errorf("%s: value %d is %v, want %v", what, i, g, w)
		}
	}
}

// TestVectorProduct compares products and weighted sums with the reference: the
// order of the sum differs, so the bound is that of a sum of products.
func TestVectorProduct(t *testing.T) {
	eachVectorClass(t, func(t *testing.T, s *set) {
		for _, k := range vectorSizes {
			const rows, n = 7, 6
			r := newRandom(uint64(k))
			x, w := uniforms(r, rows*k, 1), uniforms(r, n*k, 1)
			got, want := make([]float32, rows*n), make([]float32, rows*n)
			s.product(got, n, x, k, rows, w, n, k)
			productGeneric(want, n, x, k, rows, w, n, k)
			closeTo(t, fmt.Sprintf("product of %d", k), got, want, 0, 1e-7*float64(k))

			v, p := uniforms(r, rows*k, 1), uniforms(r, rows, 1)
			got, want = uniforms(newRandom(3), k, 1), uniforms(newRandom(3), k, 1)
			s.accumulate(got, v, k, p)
			accumulateGeneric(want, v, k, p)
			closeTo(t, fmt.Sprintf("weighted sum of %d columns", k), got, want, 0, 1e-6)
		}
	})
}

// TestVectorSoftmax compares exponentials and their sum with the reference, which
// is within an ulp of the truth, for all sizes and at the borders of the range.
func TestVectorSoftmax(t *testing.T) {
	special := []float32{0, -1e-30, -0.5, -1, -87.3, -87.4, -95, -103.9, -103.97, -104, -200, float32(math.Inf(-1)), float32(math.NaN())}
	eachVectorClass(t, func(t *testing.T, s *set) {
		for _, n := range vectorSizes {
			p := uniforms(newRandom(uint64(n)), n, 60)
			const top = 60
			got, want := append([]float32(nil), p...), append([]float32(nil), p...)
			sum, wantSum := s.softmax(got, top, F32), softmaxGeneric(want, top, F32)
			closeTo(t, fmt.Sprintf("%d exponentials", n), got, want, 3e-7, 3e-45)
			closeTo(t, fmt.Sprintf("the sum of %d", n), []float32{sum}, []float32{wantSum}, 1e-6, 0)
		}
		got, want := append([]float32(nil), special...), append([]float32(nil), special...)
		s.softmax(got, 0, F32)
		softmaxGeneric(want, 0, F32)
		closeTo(t, "special values", got, want, 3e-7, 3e-45)
	})
}

// TestVectorGELU compares GELU times up with the reference.
func TestVectorGELU(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-30, -1e-20, 0.5, -0.6, 0.76, -0.77, 1, -3, 3, -8, 8, 30, -30, 1e10, -1e10,
		float32(math.Inf(1)), float32(math.NaN())}
	eachVectorClass(t, func(t *testing.T, s *set) {
		for _, n := range vectorSizes {
			r := newRandom(uint64(n))
			gate, up := uniforms(r, n, 6), uniforms(r, n, 2)
			got, want := make([]float32, n), make([]float32, n)
			s.geluMul(got, gate, up, F32)
			geluMulGeneric(want, gate, up, F32)
			closeTo(t, fmt.Sprintf("%d values", n), got, want, 1e-6, 1e-6)
		}
		ones := make([]float32, len(special))
		for i := range ones {
			ones[i] = 1
		}
		got, want := make([]float32, len(special)), make([]float32, len(special))
		s.geluMul(got, special, ones, F32)
		geluMulGeneric(want, special, ones, F32)
		closeTo(t, "special values", got, want, 1e-6, 1e-6)
	})
}

// TestVectorRowAlone: an element's result does not depend on its place in a vector.
func TestVectorRowAlone(t *testing.T) {
	eachVectorClass(t, func(t *testing.T, s *set) {
		r := newRandom(9)
		gate, up := uniforms(r, 50, 4), uniforms(r, 50, 4)
		all := make([]float32, len(gate))
		s.geluMul(all, gate, up, F32)
		p := append([]float32(nil), gate...)
		s.softmax(p, 4, F32)
		for i := range gate {
			one := make([]float32, 1)
			s.geluMul(one, gate[i:i+1], up[i:i+1], F32)
			sameBits(t, "GELU alone", one, all[i:i+1])
			one[0] = gate[i]
			s.softmax(one, 4, F32)
			sameBits(t, "exponential alone", one, p[i:i+1])
		}
	})
}
