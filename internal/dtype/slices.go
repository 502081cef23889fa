package dtype

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The loops below take four elements a turn from reslices of a known length:
// the compiler then drops the bounds checks, which is what they cost most on.

// Decode converts len(dst) little-endian elements of type t, which must be
// F32, BF16 or F16, from src to float32. src needs no alignment and must have
// exactly the bytes of len(dst) elements. The conversion is exact.
func Decode(t Type, dst []float32, src []byte) error {
	switch t {
	case F32, BF16, F16:
	default:
		return fmt.Errorf("dtype: no conversion from %v to float32", t)
	}
	if want := len(dst) * (t.Bits() / 8); len(src) != want {
		return fmt.Errorf("dtype: %d elements of %v are %d bytes, not %d", len(dst), t, want, len(src))
	}
	switch t {
	case F32:
		decodeF32(dst, src)
	case BF16:
		decodeBF16Bytes(dst, src)
	case F16:
		decodeF16Bytes(dst, src)
	}
	return nil
}

func decodeF32(dst []float32, src []byte) {
	for len(dst) >= 4 && len(src) >= 16 {
		d, s := dst[:4:4], src[:16:16]
		a, b := binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[8:])
		d[0] = math.Float32frombits(uint32(a))
		d[1] = math.Float32frombits(uint32(a >> 32))
		d[2] = math.Float32frombits(uint32(b))
		d[3] = math.Float32frombits(uint32(b >> 32))
		dst, src = dst[4:], src[16:]
	}
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func decodeBF16Bytes(dst []float32, src []byte) {
	for len(dst) >= 4 && len(src) >= 8 {
		d, v := dst[:4:4], binary.LittleEndian.Uint64(src)
		d[0] = math.Float32frombits(uint32(v) << 16)
		d[1] = math.Float32frombits(uint32(v) &^ 0xffff)
		d[2] = math.Float32frombits(uint32(v>>32) << 16)
		d[3] = math.Float32frombits(uint32(v>>32) &^ 0xffff)
		dst, src = dst[4:], src[8:]
	}
	for i := range dst {
		dst[i] = FromBF16(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func decodeF16Bytes(dst []float32, src []byte) {
	for len(dst) >= 4 && len(src) >= 8 {
		d, v := dst[:4:4], binary.LittleEndian.Uint64(src)
		d[0] = FromF16(uint16(v))
		d[1] = FromF16(uint16(v >> 16))
		d[2] = FromF16(uint16(v >> 32))
		d[3] = FromF16(uint16(v >> 48))
		dst, src = dst[4:], src[8:]
	}
	for i := range dst {
		dst[i] = FromF16(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// DecodeBF16 sets dst[i] = FromBF16(src[i]). dst must be at least as long as
// src.
func DecodeBF16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for len(src) >= 4 && len(dst) >= 4 {
		d, s := dst[:4:4], src[:4:4]
		d[0] = math.Float32frombits(uint32(s[0]) << 16)
		d[1] = math.Float32frombits(uint32(s[1]) << 16)
		d[2] = math.Float32frombits(uint32(s[2]) << 16)
		d[3] = math.Float32frombits(uint32(s[3]) << 16)
		dst, src = dst[4:], src[4:]
	}
	for i, h := range src {
		dst[i] = FromBF16(h)
	}
}

// EncodeBF16 sets dst[i] = ToBF16(src[i]). dst must be at least as long as
// src.
func EncodeBF16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = uint16(roundBF16(math.Float32bits(x)) >> 16)
	}
}

// RoundBF16Slice sets x[i] = RoundBF16(x[i]).
func RoundBF16Slice(x []float32) {
	for i, v := range x {
		x[i] = math.Float32frombits(roundBF16(math.Float32bits(v)) &^ 0xffff)
	}
}
