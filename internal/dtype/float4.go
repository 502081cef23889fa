package dtype

import "math"

// ToE2M1 rounds x to OCP e2m1, a code of 4 bits: nearest, ties to even,
// saturating at ±6 (infinities too). The format has no NaN; NaN becomes +0.
func ToE2M1(x float32) uint8 {
	b := math.Float32bits(x)
	sign, abs := uint8(b>>28&8), b&^signBit32
	switch {
	case abs > inf32:
		return 0
	case abs == inf32:
		return sign | 7
	}
	return sign | uint8(min(encodeSmall(abs, 1, 1), 7))
}

// FromE2M1 is exact; only the low four bits of c count.
func FromE2M1(c uint8) float32 {
	magnitudes := [8]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6}
	sign := uint32(c&8) << 28
	return math.Float32frombits(sign | math.Float32bits(magnitudes[c&7]))
}
