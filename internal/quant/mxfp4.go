package quant

import "math"

// MXFP4: 32 elements of e2m1 and a power of two: the scale's exponent in one
// byte, then nibbles as in Q4_0. ggml doubles the values of e2m1 to integers
// and halves the scale. Three things differ from the OCP definition and are kept
// as ggml has them: code 8 is +0, scale byte 255 is a power of two and not NaN,
// and a product may overflow to infinity.
const (
	mxfp4Codes = 1
	mxfp4Bytes = mxfp4Codes + nibbles
)

var mxfp4Values = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// mxfp4Scale is half of 2^(e-127); the first two are subnormal.
func mxfp4Scale(e uint8) float32 {
	if e < 2 {
		return math.Float32frombits(1 << (21 + e))
	}
	return math.Float32frombits(uint32(e-1) << 23)
}

func decodeMXFP4(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[small:], src[mxfp4Bytes:] {
		b := (*[mxfp4Bytes]byte)(src)
		lookUp((*[small]float32)(dst), (*[nibbles]byte)(b[mxfp4Codes:]), &mxfp4Values, mxfp4Scale(b[0]))
	}
}

// encodeMXFP4 takes for each element the nearest value, of equally near ones the
// first code.
func encodeMXFP4(dst []byte, src []float32) error {
	for ; len(src) > 0; src, dst = src[small:], dst[mxfp4Bytes:] {
		x, b := (*[small]float32)(src), (*[mxfp4Bytes]byte)(dst)
		b[0] = mxfp4Exponent(farthest(x))
		d := mxfp4Scale(b[0])
		var codes [small]uint8
		for i, v := range x {
			nearest := float32(math.Inf(1))
			for c, value := range mxfp4Values {
				distance := float32(math.Abs(float64(float32(d*value) - v)))
				if distance < nearest {
					codes[i], nearest = uint8(c), distance
				}
			}
		}
		putNibbles((*[nibbles]byte)(b[mxfp4Codes:]), &codes)
	}
	return nil
}

// mxfp4Exponent is the scale byte of a block whose element of largest magnitude
// is far: the one that brings it to 4 … 8 of the range, whose end is 6. The
// logarithm is rounded to float32 before its floor, as in gguf-py and ggml, and
// so goes up just below a large power of two. What is too small for the smallest
// scale byte gets that.
func mxfp4Exponent(far float32) uint8 {
	if far == 0 {
		return 0
	}
	log := float32(math.Log2(math.Abs(float64(far))))
	return uint8(max(int(math.Floor(float64(log)))-2+127, 0))
}
