package quant

import "encoding/binary"

// Codes of four bits into a codebook that is denser near zero.
//
//	IQ4_NL  32 elements: scale in F16, then nibbles as in Q4_0
//	IQ4_XS  256 elements in parts of 32: d in F16, then for part p the high two
//	        bits of its scale at bit 2p of a word, the low four as nibble p, and
//	        nibbles as in Q4_0; the scale is d·(six bits - 32)
const (
	iq4NLCodes = 2
	iq4NLBytes = iq4NLCodes + nibbles

	iq4XSHigh  = 2
	iq4XSLow   = iq4XSHigh + 2
	iq4XSCodes = iq4XSLow + super/32/2
	iq4XSBytes = iq4XSCodes + super/2
)

// iq4Values is the codebook of ggml (kvalues_iq4nl).
var iq4Values = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func decodeIQ4NL(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[small:], src[iq4NLBytes:] {
		b := (*[iq4NLBytes]byte)(src)
		lookUp((*[small]float32)(dst), (*[nibbles]byte)(b[iq4NLCodes:]), &iq4Values, half(b[:]))
	}
}

func decodeIQ4XS(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[super:], src[iq4XSBytes:] {
		y, b := (*[super]float32)(dst), (*[iq4XSBytes]byte)(src)
		d, high := half(b[:]), binary.LittleEndian.Uint16(b[iq4XSHigh:])
		for p := range super / small {
			low := b[iq4XSLow+p/2] >> (p % 2 * 4) & 15
			scale := int(low|uint8(high>>(2*p)&3)<<4) - 32
			codes := (*[nibbles]byte)(b[iq4XSCodes+p*nibbles:])
			lookUp((*[small]float32)(y[p*small:]), codes, &iq4Values, float32(d*float32(scale)))
		}
	}
}

// lookUp sets y to d times the values of 32 nibbles.
func lookUp(y *[small]float32, codes *[nibbles]byte, values *[16]float32, d float32) {
	for j, c := range codes {
		y[j] = d * values[c&15]
		y[j+nibbles] = d * values[c>>4]
	}
}
