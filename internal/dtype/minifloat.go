package dtype

// encodeSmall rounds the magnitude whose float32 bits are abs (sign clear,
// finite) to a format with mant mantissa bits, the given exponent bias and
// subnormals. The result is the exponent field above the mantissa field. It is
// not limited to the format's largest code: the caller decides what overflow
// becomes. mant must be below 23 and bias above 0 and far below 127.
func encodeSmall(abs uint32, mant, bias int) uint32 {
	e := int(abs>>23) - 127 + bias
	value, shift := abs-uint32(127-bias)<<23, 23-mant
	if e < 1 {
		// Subnormal: the whole significand, in units of 2^(1-bias-mant). Below
		// a quarter of a unit nothing can round up.
		shift = 24 - mant - e
		if shift > 24 {
			return 0
		}
		value = abs&(1<<23-1) | 1<<23
	}
	return (value + 1<<(shift-1) - 1 + value>>shift&1) >> shift
}
