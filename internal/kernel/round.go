package kernel

import "math"

// Rounding says to which type results are rounded that the official
// implementation stores in the activation type.
type Rounding uint8

const (
	// F32 rounds nothing: float32 activations.
	F32 Rounding = iota
	// BF16 rounds to bfloat16, to nearest even.
	BF16
)

// bf16 rounds x to bfloat16, to nearest even; NaN stays NaN.
func bf16(x float32) float32 {
	b := math.Float32bits(x)
	if x != x {
		return math.Float32frombits(b | 1<<22)
	}
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}

// value rounds one result.
func (r Rounding) value(x float32) float32 {
	if r == BF16 {
		return bf16(x)
	}
	return x
}

// slice rounds results in place.
func (r Rounding) slice(x []float32) {
	if r == BF16 {
		for i, v := range x {
			x[i] = bf16(v)
		}
	}
}

// Finite reports whether every value is finite.
func Finite(x []float32) bool {
	var s float32
	for _, v := range x {
		s += float32(v * 0) // NaN for NaN and infinity
	}
	return s == 0
}
