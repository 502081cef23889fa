package dtype

import "math"

// ToE4M3 rounds x to OCP e4m3 ("fn"): nearest, ties to even, saturating at
// ±448. The format has no infinity; NaN and infinities become +0, as the
// official quantisers do before they round, so check for them first where they
// matter.
func ToE4M3(x float32) uint8 {
	b := math.Float32bits(x)
	sign, abs := uint8(b>>24&0x80), b&^signBit32
	if abs >= inf32 {
		return 0
	}
	return sign | uint8(min(encodeSmall(abs, 3, 7), 0x7e))
}

// FromE4M3 is exact. Codes 0x7f and 0xff are NaN.
func FromE4M3(c uint8) float32 {
	sign, abs := uint32(c&0x80)<<24, uint32(c&0x7f)
	switch {
	case abs == 0x7f:
		return math.Float32frombits(sign | inf32 | 1<<22)
	case abs < 8: // subnormal, in units of 2^-9
		return math.Float32frombits(sign | math.Float32bits(float32(abs)*0x1p-9))
	}
	return math.Float32frombits(sign | abs<<20 + (127-7)<<23)
}

// ToE5M2 rounds x to OCP e5m2: nearest, ties to even, overflow to infinity.
// Every NaN becomes 0x7f or 0xff.
func ToE5M2(x float32) uint8 {
	b := math.Float32bits(x)
	sign, abs := uint8(b>>24&0x80), b&^signBit32
	switch {
	case abs > inf32:
		return sign | 0x7f
	case abs == inf32:
		return sign | 0x7c
	}
	return sign | uint8(min(encodeSmall(abs, 2, 15), 0x7c))
}

// FromE5M2 is exact: the format is the upper byte of binary16.
func FromE5M2(c uint8) float32 {
	return FromF16(uint16(c) << 8)
}

// ToE8M0 gives the code of the power of two nearest to x, ties upward; code c
// is 2^(c-127). Zero becomes the smallest code. What has no code (negative,
// NaN, infinite, 1.5·2^127 and more) becomes the NaN code 0xff.
func ToE8M0(x float32) uint8 {
	b := math.Float32bits(x)
	switch {
	case x == 0:
		return 0
	case b&signBit32 != 0 || b >= inf32:
		return 0xff
	case b < 1<<23: // 2^-127 and 2^-126 meet at 1.5·2^-127
		if b < 0x600000 {
			return 0
		}
		return 1
	}
	return uint8(b>>23 + b>>22&1)
}

// FromE8M0 is exact. Code 0 is 2^-127, a float32 subnormal; 0xff is NaN.
func FromE8M0(c uint8) float32 {
	switch c {
	case 0:
		return 0x1p-127
	case 0xff:
		return math.Float32frombits(inf32 | 1<<22)
	}
	return math.Float32frombits(uint32(c) << 23)
}
