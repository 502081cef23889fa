package quant

import (
	"encoding/binary"
	"math"
)

// Blocks of 32 elements: a scale in F16, in the _1 formats an offset in F16, in
// the Q5 formats the fifth bits as a little-endian word (bit i is element i's),
// then the codes. Codes of four bits lie in 16 bytes: byte j holds element j in
// its low half and element j+16 in its high half.
//
//	Q8_0          scale · code              code -128 … 127
//	Q4_0, Q5_0    scale · (code - middle)   middle = 8, 16
//	Q4_1, Q5_1    scale · code + offset
const (
	nibbles = small / 2 // bytes of the codes of four bits

	q8_0Codes = 2
	q8_0Bytes = q8_0Codes + small

	q4_0Codes = 2
	q4_0Bytes = q4_0Codes + nibbles

	q4_1Offset = 2
	q4_1Codes  = q4_1Offset + 2
	q4_1Bytes  = q4_1Codes + nibbles

	q5_0High  = 2
	q5_0Codes = q5_0High + 4
	q5_0Bytes = q5_0Codes + nibbles

	q5_1Offset = 2
	q5_1High   = q5_1Offset + 2
	q5_1Codes  = q5_1High + 4
	q5_1Bytes  = q5_1Codes + nibbles
)

func decodeQ8_0(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[small:], src[q8_0Bytes:] {
		y, b := (*[small]float32)(dst), (*[q8_0Bytes]byte)(src)
		d := half(b[:])
		for i := range y {
			y[i] = d * float32(int8(b[q8_0Codes+i]))
		}
	}
}

func decodeQ4_0(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[small:], src[q4_0Bytes:] {
		y, b := (*[small]float32)(dst), (*[q4_0Bytes]byte)(src)
		d := half(b[:])
		for j := range nibbles {
			c := b[q4_0Codes+j]
			y[j] = d * float32(int(c&15)-8)
			y[j+nibbles] = d * float32(int(c>>4)-8)
		}
	}
}

func decodeQ4_1(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[small:], src[q4_1Bytes:] {
		y, b := (*[small]float32)(dst), (*[q4_1Bytes]byte)(src)
		d, m := half(b[:]), half(b[q4_1Offset:])
		for j := range nibbles {
			c := b[q4_1Codes+j]
			y[j] = float32(d*float32(c&15)) + m
			y[j+nibbles] = float32(d*float32(c>>4)) + m
		}
	}
}

func decodeQ5_0(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[small:], src[q5_0Bytes:] {
		y, b := (*[small]float32)(dst), (*[q5_0Bytes]byte)(src)
		d, high := half(b[:]), binary.LittleEndian.Uint32(b[q5_0High:])
		for j := range nibbles {
			c := b[q5_0Codes+j]
			y[j] = d * float32(int(uint32(c&15)|high>>j&1<<4)-16)
			y[j+nibbles] = d * float32(int(uint32(c>>4)|high>>(j+nibbles)&1<<4)-16)
		}
	}
}

func decodeQ5_1(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[small:], src[q5_1Bytes:] {
		y, b := (*[small]float32)(dst), (*[q5_1Bytes]byte)(src)
		d, m, high := half(b[:]), half(b[q5_1Offset:]), binary.LittleEndian.Uint32(b[q5_1High:])
		for j := range nibbles {
			c := b[q5_1Codes+j]
			y[j] = float32(d*float32(uint32(c&15)|high>>j&1<<4)) + m
			y[j+nibbles] = float32(d*float32(uint32(c>>4)|high>>(j+nibbles)&1<<4)) + m
		}
	}
}

// encodeQ8_0: the largest magnitude gets code 127; codes are rounded half away
// from zero.
func encodeQ8_0(dst []byte, src []float32) error {
	for block := 0; len(src) > 0; block++ {
		x, b := (*[small]float32)(src), (*[q8_0Bytes]byte)(dst)
		d := float32(math.Abs(float64(farthest(x)))) / 127
		if err := putHalf(b[:], d, "scale", block); err != nil {
			return err
		}
		r := reciprocal(d)
		for i, v := range x {
			b[q8_0Codes+i] = byte(int8(math.Round(float64(float32(v * r)))))
		}
		src, dst = src[small:], dst[q8_0Bytes:]
	}
	return nil
}

func encodeQ4_0(dst []byte, src []float32) error {
	for block := 0; len(src) > 0; block++ {
		x, b := (*[small]float32)(src), (*[q4_0Bytes]byte)(dst)
		d, codes := centred(x, 8)
		if err := putHalf(b[:], d, "scale", block); err != nil {
			return err
		}
		putNibbles((*[nibbles]byte)(b[q4_0Codes:]), &codes)
		src, dst = src[small:], dst[q4_0Bytes:]
	}
	return nil
}

func encodeQ5_0(dst []byte, src []float32) error {
	for block := 0; len(src) > 0; block++ {
		x, b := (*[small]float32)(src), (*[q5_0Bytes]byte)(dst)
		d, codes := centred(x, 16)
		if err := putHalf(b[:], d, "scale", block); err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(b[q5_0High:], fifthBits(&codes))
		putNibbles((*[nibbles]byte)(b[q5_0Codes:]), &codes)
		src, dst = src[small:], dst[q5_0Bytes:]
	}
	return nil
}

func encodeQ4_1(dst []byte, src []float32) error {
	for block := 0; len(src) > 0; block++ {
		x, b := (*[small]float32)(src), (*[q4_1Bytes]byte)(dst)
		d, m, codes := offset(x, 15)
		if err := putHalf(b[:], d, "scale", block); err != nil {
			return err
		}
		if err := putHalf(b[q4_1Offset:], m, "offset", block); err != nil {
			return err
		}
		putNibbles((*[nibbles]byte)(b[q4_1Codes:]), &codes)
		src, dst = src[small:], dst[q4_1Bytes:]
	}
	return nil
}

func encodeQ5_1(dst []byte, src []float32) error {
	for block := 0; len(src) > 0; block++ {
		x, b := (*[small]float32)(src), (*[q5_1Bytes]byte)(dst)
		d, m, codes := offset(x, 31)
		if err := putHalf(b[:], d, "scale", block); err != nil {
			return err
		}
		if err := putHalf(b[q5_1Offset:], m, "offset", block); err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(b[q5_1High:], fifthBits(&codes))
		putNibbles((*[nibbles]byte)(b[q5_1Codes:]), &codes)
		src, dst = src[small:], dst[q5_1Bytes:]
	}
	return nil
}

// farthest is the element of largest magnitude, the first of equals.
func farthest(x *[small]float32) float32 {
	far := x[0]
	for _, v := range x {
		if math.Abs(float64(v)) > math.Abs(float64(far)) {
			far = v
		}
	}
	return far
}

// centred gives the scale of the Q4_0 kind and the codes 0 … 2·middle-1. The
// element of largest magnitude, sign and all, becomes code 0, which is -middle:
// that side has one code more. The sum before the cut is formed in float64
// and rounded to float32 once, as in gguf-py, which thus comes close to a fused
// operation of ggml.
func centred(x *[small]float32, middle int) (d float32, codes [small]uint8) {
	d = farthest(x) / float32(-middle)
	r := reciprocal(d)
	for i, v := range x {
		sum := float64(float64(v)*float64(r)) + (float64(middle) + 0.5)
		codes[i] = uint8(min(int(float32(sum)), 2*middle-1))
	}
	return d, codes
}

// offset gives the scale and the offset of the Q4_1 kind and the codes
// 0 … last: the smallest element becomes 0, the largest becomes last. A scale
// that overflows comes back as infinity.
func offset(x *[small]float32, last int) (d, m float32, codes [small]uint8) {
	low, high := x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	d = (high - low) / float32(last)
	r := reciprocal(d)
	for i, v := range x {
		codes[i] = uint8(min(int(float32((v-low)*r)+0.5), last))
	}
	return d, low, codes
}

// putNibbles stores the low four bits of each code.
func putNibbles(b *[nibbles]byte, codes *[small]uint8) {
	for j := range b {
		b[j] = codes[j]&15 | codes[j+nibbles]<<4
	}
}

func fifthBits(codes *[small]uint8) uint32 {
	var bits uint32
	for i, c := range codes {
		bits |= uint32(c>>4) << i
	}
	return bits
}
