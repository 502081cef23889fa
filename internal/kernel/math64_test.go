package kernel

import (
	"math"
	"math/big"
	"testing"
)

// The float64 functions are measured against sums of 300 bits.

const bigBits = 300

func newBig(x float64) *big.Float { return new(big.Float).SetPrec(bigBits).SetFloat64(x) }

// bigSeries sums first·(1 + q/d(1)·(1 + q/d(2)·(…))) until terms vanish.
func bigSeries(first, q *big.Float, divisor func(k int) float64) *big.Float {
	sum, term := newBig(0).Set(first), newBig(0).Set(first)
	for k := 1; term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-bigBits); k++ {
		term.Mul(term, q)
		term.Quo(term, newBig(divisor(k)))
		sum.Add(sum, term)
	}
	return sum
}

func bigExp(x float64) *big.Float {
	const halvings = 16
	y := bigSeries(newBig(1), newBig(math.Ldexp(x, -halvings)), func(k int) float64 { return float64(k) })
	for range halvings {
		y.Mul(y, y)
	}
	return y
}

// bigSinCos reduces by π/2 exactly enough for |x| up to 2^40.
func bigSinCos(t *testing.T, x float64) (sin, cos *big.Float) {
	const digits = "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679821480865132823066"
	pi, _, err := big.ParseFloat(digits, 10, bigBits, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	half := newBig(0).Quo(pi, newBig(2))
	n := math.Round(x / (math.Pi / 2))
	r := newBig(x)
	r.Sub(r, newBig(0).Mul(half, newBig(n)))
	square := newBig(0).Mul(r, r)
	square.Neg(square)
	sin = bigSeries(r, square, func(k int) float64 { return float64(2*k) * float64(2*k+1) })
	cos = bigSeries(newBig(1), square, func(k int) float64 { return float64(2*k-1) * float64(2*k) })
	switch int64(n) & 3 {
	case 1:
		sin, cos = cos, sin.Neg(sin)
	case 2:
		sin, cos = sin.Neg(sin), cos.Neg(cos)
	case 3:
		sin, cos = cos.Neg(cos), sin
	}
	return sin, cos
}

// ulps64 is the distance of got from want in units of the last place of a
// normal float64 of that size.
func ulps64(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		return math.Abs(got) / 0x1p-1074
	}
	d, _ := new(big.Float).Sub(newBig(got), want).Float64()
	return math.Abs(d) / math.Ldexp(1, want.MantExp(nil)-53)
}

func TestExp64(t *testing.T) {
	var w, near0 worst
	for i := range 4001 {
		x := float64(i)*(1416.8/4000) - 707.9
		w.see(ulps64(exp64(x), bigExp(x)), x)
		x /= 1000
		near0.see(ulps64(exp64(x), bigExp(x)), x)
	}
	w.within(t, "exp64, ulp", 2)
	near0.within(t, "exp64 for |x| < 1, ulp", 2)

	for _, c := range []struct{ x, want float64 }{
		{0, 1},
		{math.Copysign(0, -1), 1},
		{5e-324, 1},
		{-5e-324, 1},
		{math.Inf(1), math.Inf(1)},
		{math.Inf(-1), 0},
		{math.MaxFloat64, math.Inf(1)},
		{-math.MaxFloat64, 0},
		{709.1, math.Inf(1)},
		{-708.1, 0},
	} {
		if got := exp64(c.x); got != c.want {
			t.Errorf("exp64(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if got := exp64(math.NaN()); got == got {
		t.Errorf("exp64(NaN) = %v", got)
	}
}

func TestLog64(t *testing.T) {
	var w, near1 worst
	absolute := func(x float64) float64 {
		return math.Abs(log64(x) - math.Log(x))
	}
	// With y near ln x, ln x = y + ln(x·e^-y), and the second term is so small
	// that it equals x·e^-y - 1.
	distance := func(x float64) float64 {
		y := log64(x)
		d := newBig(x)
		d.Mul(d, bigExp(-y))
		d.Sub(d, newBig(1))
		want := newBig(y)
		return ulps64(y, want.Add(want, d))
	}
	r := newRandom(2)
	for i := range 3000 {
		x := math.Ldexp(1+r.Float64(), i%1900-950)
		w.see(distance(x), x)
		x = 1 + 4*r.Float64()
		near1.see(absolute(x), x)
	}
	w.within(t, "log64, ulp", 1)
	near1.within(t, "log64 for 1 ≤ x ≤ 5, absolute", 3e-16)

	if got := log64(1); got != 0 {
		t.Errorf("log64(1) = %v", got)
	}
	for _, x := range []float64{0, -1, math.Inf(1), math.Inf(-1), math.NaN()} {
		got, want := log64(x), math.Log(x)
		if got != want && (got == got || want == want) {
			t.Errorf("log64(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestPow64(t *testing.T) {
	for _, base := range []float64{2, 10, 1e4, 1e6, 5e5} {
		var w worst
		for i := range 513 {
			e := float64(i) / 512
			want := math.Pow(base, e)
			w.see(math.Abs(pow64(base, e)-want)/want, e)
		}
		w.within(t, "pow64, relative", 2e-15)
	}
	if got := pow64(10, 0); got != 1 {
		t.Errorf("pow64(10, 0) = %v", got)
	}
}

func TestSinCos64(t *testing.T) {
	var far, sine, cosine worst
	see := func(x float64) {
		s, c := sinCos64(x)
		bs, bc := bigSinCos(t, x)
		sine.see(ulps64(s, bs), x)
		cosine.see(ulps64(c, bc), x)
		for _, d := range []*big.Float{bs.Sub(bs, newBig(s)), bc.Sub(bc, newBig(c))} {
			abs, _ := d.Abs(d).Float64()
			far.see(abs, x)
		}
	}
	r := newRandom(3)
	for i := range 400 {
		see(float64(i) * 0.025)
		see(float64(float32(r.Float32() * 4096)))
		see(float64(float32(r.Float32() * (1 << 20))))
		see(-r.Float64() * (1 << 20))
		see(math.Ldexp(1+r.Float64(), -i%60))
		// Next to the multiples of π/2, where one of the two nearly vanishes.
		see(float64(float32(float64(i*1600+1) * (math.Pi / 2))))
	}
	see(1 << 20)
	sine.within(t, "sin, ulp", 2)
	cosine.within(t, "cos, ulp", 2)
	far.within(t, "sin and cos, absolute", 3e-16)

	if s, c := sinCos64(0); s != 0 || c != 1 {
		t.Errorf("sinCos64(0) = %v, %v", s, c)
	}
	if s, c := sinCos64(math.NaN()); s == s || c == c {
		t.Errorf("sinCos64(NaN) = %v, %v", s, c)
	}
}
