package kernel

import (
	"math"
	"testing"
)

// ulps32 is the distance of got from want in units of the last place of a
// float32 of that size.
func ulps32(got float32, want float64) float64 {
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

// worst keeps the largest error and where it was.
type worst struct{ err, at float64 }

func (w *worst) see(err, at float64) {
	if err > w.err || err != err {
		w.err, w.at = err, at
	}
}

func (w *worst) within(t *testing.T, what string, limit float64) {
	t.Helper()
	t.Logf("%s: largest error %.4g at %v", what, w.err, w.at)
	if !(w.err <= limit) {
		t.Errorf("%s: error %g at %v, want at most %g", what, w.err, w.at, limit)
	}
}

// eachFloat calls f with every stride-th float32 from 0 to limit.
func eachFloat(limit float32, stride uint32, f func(x float32)) {
	for b := uint32(0); b <= math.Float32bits(limit); b += stride {
		f(math.Float32frombits(b))
	}
}

func TestExp32(t *testing.T) {
	var w, small worst
	see := func(x float32) {
		y, want := exp32(x), math.Exp(float64(x))
		if want < 0x1p-126 {
			small.see(ulps32(y, want), float64(x))
		} else {
			w.see(ulps32(y, want), float64(x))
		}
	}
	eachFloat(88.7228, 3001, see)
	eachFloat(105, 3001, func(x float32) { see(-x) })
	for i := range 200_000 { // evenly too: the floats are densest near 0
		see(float32(i)*(192.5/200_000) - 103.9)
	}
	w.within(t, "exp32", 1)
	small.within(t, "exp32, subnormal results", 1)
}

func TestExp32Edges(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct{ x, want float32 }{
		{0, 1},
		{float32(math.Copysign(0, -1)), 1},
		{1e-45, 1},
		{-1e-45, 1},
		{inf, inf},
		{-inf, 0},
		{math.MaxFloat32, inf},
		{-math.MaxFloat32, 0},
		{math.Float32frombits(0x42b17218), inf}, // the first above ln MaxFloat32
		{-103.98, 0},
		{-103.9, 1e-45},
	} {
		if got := exp32(c.x); got != c.want {
			t.Errorf("exp32(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	last := math.Float32frombits(0x42b17217)
	if got := exp32(last); !(ulps32(got, math.Exp(float64(last))) <= 1) {
		t.Errorf("exp32(%v) = %v, want %v", last, got, math.Exp(float64(last)))
	}
	if got := exp32(nan32); got == got {
		t.Errorf("exp32(NaN) = %v", got)
	}
}

// A weight never exceeds that of the largest logit.
func TestExp32OfNegativeIsAtMostOne(t *testing.T) {
	eachFloat(1, 1009, func(x float32) {
		if y := exp32(-x); !(y <= 1) {
			t.Fatalf("exp32(%v) = %v", -x, y)
		}
	})
}

func TestFastExp32(t *testing.T) {
	var w worst
	see := func(x float32) {
		want := math.Exp(float64(x))
		w.see(math.Abs(float64(fastExp32(x))-want)/want, float64(x))
	}
	eachFloat(87.3365, 3001, func(x float32) { see(-x) })
	for i := range 200_000 {
		see(-float32(i) * (87.3 / 200_000))
	}
	w.within(t, "fastExp32, relative", 1.2e-4)

	for _, x := range []float32{-87.34, -100, -math.MaxFloat32, negInf} {
		if got := fastExp32(x); got != 0 {
			t.Errorf("fastExp32(%v) = %v, want 0", x, got)
		}
	}
	if got := fastExp32(nan32); got == got {
		t.Errorf("fastExp32(NaN) = %v", got)
	}
}

func TestTanh32(t *testing.T) {
	var w worst
	eachFloat(12, 2003, func(x float32) {
		y := tanh32(x)
		w.see(ulps32(y, math.Tanh(float64(x))), float64(x))
		if !(y <= 1) {
			t.Fatalf("tanh32(%v) = %v", x, y)
		}
		if m := tanh32(-x); m != -y {
			t.Fatalf("tanh32(%v) = %v, but tanh32(%v) = %v", -x, m, x, y)
		}
	})
	for i := range 200_000 {
		x := float32(i) * (12.0 / 200_000)
		w.see(ulps32(tanh32(x), math.Tanh(float64(x))), float64(x))
	}
	w.within(t, "tanh32", 2)

	for _, c := range []struct{ x, want float32 }{
		{0, 0},
		{1e-45, 1e-45},
		{9.1, 1},
		{math.MaxFloat32, 1},
		{float32(math.Inf(1)), 1},
		{negInf, -1},
	} {
		if got := tanh32(c.x); got != c.want {
			t.Errorf("tanh32(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if got := tanh32(nan32); got == got {
		t.Errorf("tanh32(NaN) = %v", got)
	}
}

func TestScale2(t *testing.T) {
	for _, y := range []float32{0.5, 0.75, 1, 1.3333334, 1.9999999, 2} {
		for n := -152; n <= 128; n++ {
			want := float32(math.Ldexp(float64(y), n))
			if got := scale2(y, n); got != want {
				t.Fatalf("scale2(%v, %d) = %v, want %v", y, n, got, want)
			}
		}
	}
}

func TestFMA32(t *testing.T) {
	r := newRandom(1)
	var w worst
	for range 100_000 {
		a, b, c := r.Float32()-0.5, r.Float32()-0.5, r.Float32()-0.5
		got, want := fma32(a, b, c), math.FMA(float64(a), float64(b), float64(c))
		if want != 0 {
			w.see(ulps32(got, want), float64(a))
		}
	}
	w.within(t, "fma32", 0.5000001)
}
