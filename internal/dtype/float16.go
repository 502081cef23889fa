package dtype

import "math"

// ToF16 rounds x to IEEE binary16: nearest, ties to even, overflow to
// infinity. A NaN keeps its sign and upper payload and is made quiet.
func ToF16(x float32) uint16 {
	b := math.Float32bits(x)
	sign, abs := uint16(b>>16&0x8000), b&^signBit32
	switch {
	case abs > inf32:
		return sign | 0x7e00 | uint16(abs>>13&0x3ff)
	case abs == inf32:
		return sign | 0x7c00
	}
	return sign | uint16(min(encodeSmall(abs, 10, 15), 0x7c00))
}

// FromF16 is exact; a NaN keeps its payload.
func FromF16(h uint16) float32 {
	sign, abs := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case abs < 0x400: // subnormal, in units of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(abs)*0x1p-24))
	case abs >= 0x7c00:
		return math.Float32frombits(sign | inf32 | abs<<13)
	}
	return math.Float32frombits(sign | abs<<13 + (127-15)<<23)
}
