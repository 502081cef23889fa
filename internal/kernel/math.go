package kernel

import "math"

// The functions of this file are written out, with every product rounded
// explicitly, so that they give the same bits on every target: math.Exp and its
// like are assembly on some and are fused by the compiler on others.

// exp32 returns e^x to 1 ulp (largest error measured: 0.96): 0 below -103.98,
// +Inf above 88.73, NaN for NaN; at most 1 for x ≤ 0. x = n·ln 2 + r with |r| ≤
// ln 2 / 2; e^r by a polynomial of degree 7.
func exp32(x float32) float32 {
	if x != x {
		return x
	}
	if x > 88.72283 {
		return float32(math.Inf(1))
	}
	if x < -103.97208 {
		return 0
	}
	const (
		log2e = 1.44269504088896341
		ln2Hi = 0.693359375          // 9 bits, so that n·ln2Hi is exact
		ln2Lo = -2.12194440054690e-4 // ln 2 - ln2Hi
	)
	n := float32(math.RoundToEven(float64(float32(x * log2e))))
	r := x - float32(n*ln2Hi)
	r -= float32(n * ln2Lo)
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	y := float32(float32(p*r)*r) + r + 1
	return scale2(y, int(n))
}

// scale2 returns y·2^n for y in [0.5, 2], rounding once where the result is
// subnormal.
func scale2(y float32, n int) float32 {
	if n >= -126 && n <= 127 {
		return y * math.Float32frombits(uint32(n+127)<<23)
	}
	return float32(float64(y) * math.Float64frombits(uint64(n+1023)<<52))
}

// fastExp32 returns e^x for x ≤ 0 to 1.2e-4 relative, 0 below -87.34 and NaN for
// NaN, as the official CPU attention computes it for bf16 (Malossi et al., Fast
// Exponential Computation on SIMD Architectures): 2^y is read off the bits of
// y·2^23, with the fraction of y corrected by a polynomial of degree 3. It matters
// because the result is rounded to bf16: with an accurate exponential one
// probability in thirty rounds to the neighbour.
func fastExp32(x float32) float32 {
	if x != x {
		return x // the conversion to integer at the end would lose it
	}
	const lnMin = -87.33654 // ln of the smallest normal float32
	if x < lnMin {
		return 0
	}
	const log2e = 1.44269504088896341
	y := float32(x * log2e)
	f := y - float32(math.Floor(float64(y)))
	p := fma32(f, -0.079204240219773236, -0.22433836478672356)
	p = fma32(p, f, 0.30354260500649682)
	p = fma32(p, f, 0.00010703434948458272)
	return math.Float32frombits(uint32(math.RoundToEven(float64(fma32(y-p, 1<<23, 127<<23)))))
}

// fma32 returns a·b + c, rounded once but for the rounding of the float64 sum.
func fma32(a, b, c float32) float32 {
	return float32(float64(float64(a)*float64(b)) + float64(c))
}

// tanh32 returns tanh x to 2 ulp (largest error measured: 1.26), ±1 from 9.1 on,
// NaN for NaN. tanh32(-x) is -tanh32(x).
func tanh32(x float32) float32 {
	a := float32(math.Abs(float64(x)))
	if a < 0.625 {
		s := float32(x * x)
		p := float32(-5.70498872745e-3)
		p = float32(p*s) + 2.06390887954e-2
		p = float32(p*s) - 5.37397155531e-2
		p = float32(p*s) + 1.33314422036e-1
		p = float32(p*s) - 3.33332819422e-1
		return float32(float32(p*s)*x) + x
	}
	t := float32(1)
	if a < 9.1 {
		t = 1 - 2/(exp32(a+a)+1)
	}
	if x != x {
		return x
	}
	if x < 0 {
		return -t
	}
	return t
}

// exp64 returns e^x to 2 ulp, for the sums that are kept in float64: 0 below -708,
// +Inf above 709, NaN for NaN.
func exp64(x float64) float64 {
	if x != x {
		return x
	}
	if x > 709 {
		return math.Inf(1)
	}
	if x < -708 {
		return 0
	}
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
	)
	n := math.RoundToEven(float64(x * math.Log2E))
	r := x - float64(n*ln2Hi)
	r -= float64(n * ln2Lo)
	// Taylor to degree 13: |r| ≤ 0.347, the rest is below 1e-17.
	y := 1.0
	for k := 13; k >= 1; k-- {
		y = 1 + float64(y*r)/float64(k)
	}
	return y * math.Float64frombits(uint64(int64(n)+1023)<<52)
}

// log64 returns ln x for 1e-307 < x < 8e307 to 1 ulp, near 1 to 3e-16 absolute, by
// four steps of Halley's method on exp64. ln 1 is 0, so that a distribution with
// one certain id has the entropy 0.
func log64(x float64) float64 {
	if x == 1 {
		return 0
	}
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	frac, e := math.Frexp(x)
	y := float64(float64(e)*math.Ln2) + (frac - 1)
	for range 4 {
		t := exp64(y)
		y += 2 * (x - t) / (x + t)
	}
	return y
}

// pow64 returns base^e for base > 0, to about 2e-15 relative where e·ln base is
// below 14, as for the rotary frequencies.
func pow64(base, e float64) float64 { return exp64(float64(e * log64(base))) }

// sinCos64 returns sin x and cos x for |x| ≤ 2^20 to 2 ulp, and NaN for NaN.
func sinCos64(x float64) (sin, cos float64) {
	const (
		pio2Hi  = 1.57079632673412561417e+00 // 33 bits of π/2
		pio2Mid = 6.07710050630396597660e-11 // the next 33
		pio2Lo  = 2.02226624879595063154e-21
	)
	n := math.RoundToEven(float64(x * (2 / math.Pi)))
	r := x - float64(n*pio2Hi)
	r -= float64(n * pio2Mid)
	r -= float64(n * pio2Lo)
	s := float64(r * r)
	// Taylor: |r| ≤ π/4, the rest is below 1e-17.
	sn, cs := 1.0, 1.0
	for k := 8; k >= 1; k-- {
		sn = 1 - float64(s*sn)/float64((2*k)*(2*k+1))
		cs = 1 - float64(s*cs)/float64((2*k-1)*(2*k))
	}
	sn = float64(r * sn)
	switch int64(n) & 3 {
	case 0:
		return sn, cs
	case 1:
		return cs, -sn
	case 2:
		return -sn, -cs
	default:
		return -cs, sn
	}
}
