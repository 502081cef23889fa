package quant

// Blocks of 256 elements in parts of 16 or 32, each with a scale of its own
// (and an offset, in Q2_K, Q4_K and Q5_K) that is itself a small integer times
// an F16 of the block:
//
//	Q2_K  d·scale·code - dmin·offset   code 2 bits, scale and offset 4, parts of 16
//	Q3_K  d·scale·code                 code 3 bits signed, scale 6 signed, parts of 16
//	Q4_K  d·scale·code - dmin·offset   code 4 bits, scale and offset 6, parts of 32
//	Q5_K  the same                     code 5 bits
//	Q6_K  d·scale·code                 code 6 bits signed, scale 8 signed, parts of 16
//
// d·scale is formed first. It is exact, as is dmin·offset and nearly always the
// product with the code, but the subtraction rounds.
const (
	packedScales = 12 // bytes of 16 or 8+8 numbers of 6 bits

	q2KScales = 0
	q2KCodes  = q2KScales + super/16
	q2KD      = q2KCodes + super/4
	q2KDMin   = q2KD + 2
	q2KBytes  = q2KDMin + 2

	q3KHigh   = 0
	q3KCodes  = q3KHigh + super/8
	q3KScales = q3KCodes + super/4
	q3KD      = q3KScales + packedScales
	q3KBytes  = q3KD + 2

	q4KD      = 0
	q4KDMin   = q4KD + 2
	q4KScales = q4KDMin + 2
	q4KCodes  = q4KScales + packedScales
	q4KBytes  = q4KCodes + super/2

	q5KD      = 0
	q5KDMin   = q5KD + 2
	q5KScales = q5KDMin + 2
	q5KHigh   = q5KScales + packedScales
	q5KCodes  = q5KHigh + super/8
	q5KBytes  = q5KCodes + super/2

	q6KCodes  = 0
	q6KHigh   = q6KCodes + super/2
	q6KScales = q6KHigh + super/4
	q6KD      = q6KScales + super/16
	q6KBytes  = q6KD + 2
)

// The two-bit codes of Q2_K and Q3_K: 32 bytes hold 128 elements, bits 2k and
// 2k+1 of byte l those of element 32k+l. Part p of 16 elements is thus the half
// p%2 of the bytes of its 128, shifted by 2·(p/2%4).

func decodeQ2K(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[super:], src[q2KBytes:] {
		y, b := (*[super]float32)(dst), (*[q2KBytes]byte)(src)
		d, dmin := half(b[q2KD:]), half(b[q2KDMin:])
		for p := range super / 16 {
			scale := b[q2KScales+p]
			dl, ml := float32(d*float32(scale&15)), float32(dmin*float32(scale>>4))
			codes := (*[16]byte)(b[q2KCodes+p/8*32+p%2*16:])
			shift := p / 2 % 4 * 2
			for i, c := range codes {
				y[p*16+i] = float32(dl*float32(c>>shift&3)) - ml
			}
		}
	}
}

// decodeQ3K: the third bit is bit k of byte l for element 32k+l of the block,
// and it is set where 4 is not subtracted.
func decodeQ3K(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[super:], src[q3KBytes:] {
		y, b := (*[super]float32)(dst), (*[q3KBytes]byte)(src)
		d := half(b[q3KD:])
		scales := (*[packedScales]byte)(b[q3KScales:])
		for p := range super / 16 {
			// The low four bits lie as nibbles in eight bytes, the high two in
			// the four bytes behind them.
			scale := int(scales[p%8]>>(p/8*4)&15|scales[8+p%4]>>(p/4*2)&3<<4) - 32
			dl := float32(d * float32(scale))
			codes := (*[16]byte)(b[q3KCodes+p/8*32+p%2*16:])
			high := (*[16]byte)(b[q3KHigh+p%2*16:])
			shift := p / 2 % 4 * 2
			for i, c := range codes {
				y[p*16+i] = dl * float32(int(c>>shift&3|high[i]>>(p/2)&1<<2)-4)
			}
		}
	}
}

// sixBits unpacks scale and offset of part p of Q4_K and Q5_K. Those of the
// first four parts are the low six bits of bytes p and 4+p. Of the others the
// low four bits share byte 4+p, and the high two are the top of bytes p-4 and p.
func sixBits(s *[packedScales]byte, p int) (scale, offset uint8) {
	if p < 4 {
		return s[p] & 63, s[p+4] & 63
	}
	return s[p+4]&15 | s[p-4]>>6<<4, s[p+4]>>4 | s[p]>>6<<4
}

func decodeQ4K(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[super:], src[q4KBytes:] {
		y, b := (*[super]float32)(dst), (*[q4KBytes]byte)(src)
		d, dmin := half(b[q4KD:]), half(b[q4KDMin:])
		scales := (*[packedScales]byte)(b[q4KScales:])
		for p := range super / 32 {
			scale, offset := sixBits(scales, p)
			dl, ml := float32(d*float32(scale)), float32(dmin*float32(offset))
			codes := (*[32]byte)(b[q4KCodes+p/2*32:])
			shift := p % 2 * 4
			for i, c := range codes {
				y[p*32+i] = float32(dl*float32(c>>shift&15)) - ml
			}
		}
	}
}

// decodeQ5K: the fifth bit is bit p of byte i for element i of part p.
func decodeQ5K(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[super:], src[q5KBytes:] {
		y, b := (*[super]float32)(dst), (*[q5KBytes]byte)(src)
		d, dmin := half(b[q5KD:]), half(b[q5KDMin:])
		scales := (*[packedScales]byte)(b[q5KScales:])
		high := (*[32]byte)(b[q5KHigh:])
		for p := range super / 32 {
			scale, offset := sixBits(scales, p)
			dl, ml := float32(d*float32(scale)), float32(dmin*float32(offset))
			codes := (*[32]byte)(b[q5KCodes+p/2*32:])
			shift := p % 2 * 4
			for i, c := range codes {
				y[p*32+i] = float32(dl*float32(c>>shift&15|high[i]>>p&1<<4)) - ml
			}
		}
	}
}

// decodeQ6K: of each 128 elements, 64 bytes hold the low four bits (elements 0
// to 63 in the low halves, 64 to 127 in the high halves) and 32 bytes the high
// two, in the order of Q2_K.
func decodeQ6K(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[super:], src[q6KBytes:] {
		y, b := (*[super]float32)(dst), (*[q6KBytes]byte)(src)
		d := half(b[q6KD:])
		for p := range super / 16 {
			dl := float32(d * float32(int8(b[q6KScales+p])))
			codes := (*[16]byte)(b[q6KCodes+p/8*64+p%4*16:])
			high := (*[16]byte)(b[q6KHigh+p/8*32+p%2*16:])
			low, shift := p/4%2*4, p/2%4*2
			for i, c := range codes {
				y[p*16+i] = dl * float32(int(c>>low&15|high[i]>>shift&3<<4)-32)
			}
		}
	}
}
