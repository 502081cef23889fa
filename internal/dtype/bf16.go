package dtype

import "math"

const (
	signBit32 = 1 << 31
	inf32     = 0x7f800000 // bit pattern of +Inf in float32
)

// ToBF16 rounds x to bfloat16: nearest, ties to even, overflow to infinity. A
// NaN keeps its sign and upper payload and is made quiet, so that a payload
// that lies in the dropped half cannot turn it into an infinity.
func ToBF16(x float32) uint16 {
	return uint16(roundBF16(math.Float32bits(x)) >> 16)
}

// FromBF16 is exact.
func FromBF16(h uint16) float32 {
	return math.Float32frombits(uint32(h) << 16)
}

// RoundBF16 is bf16(x) of docs/model.md: the float32 with the value of ToBF16(x).
func RoundBF16(x float32) float32 {
	return math.Float32frombits(roundBF16(math.Float32bits(x)) &^ 0xffff)
}

// roundBF16 returns bits whose upper half is the rounded bfloat16. Adding just
// under half a unit, plus the lowest kept bit, carries exactly where
// round-to-nearest-even goes up.
func roundBF16(b uint32) uint32 {
	if b&^signBit32 > inf32 {
		return b | 1<<22
	}
	return b + 0x7fff + b>>16&1
}
