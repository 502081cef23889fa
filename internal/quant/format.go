package quant

import (
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/dtype"
)

// Format is a block type of GGUF. The zero value is not a format.
type Format uint8

// The formats, spelled as in GGUF.
const (
	Invalid Format = iota
	F32
	F16
	BF16
	Q8_0
	Q4_0
	Q4_1
	Q5_0
	Q5_1
	Q2_K
	Q3_K
	Q4_K
	Q5_K
	Q6_K
	IQ4_NL
	IQ4_XS
	MXFP4
	end
)

// Elements of a block.
const (
	small = 32  // Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4
	super = 256 // the K formats, IQ4_XS
)

// layout is what is known of a format. decode gets whole blocks; encode, nil
// where there is none, gets whole blocks of finite numbers. The floats have no
// blocks: package dtype decodes them, and encode gets any number.
type layout struct {
	name     string
	id       uint32
	elements int
	bytes    int
	float    dtype.Type
	decode   func(dst []float32, src []byte)
	encode   func(dst []byte, src []float32) error
}

var layouts = [end]layout{
	Invalid: {name: "invalid"},
	F32:     {"F32", 0, 1, 4, dtype.F32, nil, encodeF32},
	F16:     {"F16", 1, 1, 2, dtype.F16, nil, encodeF16},
	BF16:    {"BF16", 30, 1, 2, dtype.BF16, nil, encodeBF16},
	Q8_0:    {"Q8_0", 8, small, q8_0Bytes, dtype.Invalid, decodeQ8_0, encodeQ8_0},
	Q4_0:    {"Q4_0", 2, small, q4_0Bytes, dtype.Invalid, decodeQ4_0, encodeQ4_0},
	Q4_1:    {"Q4_1", 3, small, q4_1Bytes, dtype.Invalid, decodeQ4_1, encodeQ4_1},
	Q5_0:    {"Q5_0", 6, small, q5_0Bytes, dtype.Invalid, decodeQ5_0, encodeQ5_0},
	Q5_1:    {"Q5_1", 7, small, q5_1Bytes, dtype.Invalid, decodeQ5_1, encodeQ5_1},
	Q2_K:    {"Q2_K", 10, super, q2KBytes, dtype.Invalid, decodeQ2K, nil},
	Q3_K:    {"Q3_K", 11, super, q3KBytes, dtype.Invalid, decodeQ3K, nil},
	Q4_K:    {"Q4_K", 12, super, q4KBytes, dtype.Invalid, decodeQ4K, nil},
	Q5_K:    {"Q5_K", 13, super, q5KBytes, dtype.Invalid, decodeQ5K, nil},
	Q6_K:    {"Q6_K", 14, super, q6KBytes, dtype.Invalid, decodeQ6K, nil},
	IQ4_NL:  {"IQ4_NL", 20, small, iq4NLBytes, dtype.Invalid, decodeIQ4NL, nil},
	IQ4_XS:  {"IQ4_XS", 23, super, iq4XSBytes, dtype.Invalid, decodeIQ4XS, nil},
	MXFP4:   {"MXFP4", 39, small, mxfp4Bytes, dtype.Invalid, decodeMXFP4, encodeMXFP4},
}

// The bytes of each block, summed up from its parts beside its decoder, against
// the sizes that GGUF states. A wrong sum does not compile.
var (
	_ = [1]struct{}{}[q8_0Bytes-34]
	_ = [1]struct{}{}[q4_0Bytes-18]
	_ = [1]struct{}{}[q4_1Bytes-20]
	_ = [1]struct{}{}[q5_0Bytes-22]
	_ = [1]struct{}{}[q5_1Bytes-24]
	_ = [1]struct{}{}[q2KBytes-84]
	_ = [1]struct{}{}[q3KBytes-110]
	_ = [1]struct{}{}[q4KBytes-144]
	_ = [1]struct{}{}[q5KBytes-176]
	_ = [1]struct{}{}[q6KBytes-210]
	_ = [1]struct{}{}[iq4NLBytes-18]
	_ = [1]struct{}{}[iq4XSBytes-136]
	_ = [1]struct{}{}[mxfp4Bytes-17]
)

var byName, byID = func() (map[string]Format, map[uint32]Format) {
	names, ids := make(map[string]Format, end), make(map[uint32]Format, end)
	for f := Invalid + 1; f < end; f++ {
		names[layouts[f].name], ids[layouts[f].id] = f, f
	}
	return names, ids
}()

// Parse returns the format that GGUF spells name. Case matters.
func Parse(name string) (Format, error) {
	f, ok := byName[name]
	if !ok {
		return Invalid, fmt.Errorf("quant: unknown format %q", name)
	}
	return f, nil
}

// ByID returns the format of a tensor type number as GGUF files hold it
// (ggml_type).
func ByID(id uint32) (Format, error) {
	f, ok := byID[id]
	if !ok {
		return Invalid, fmt.Errorf("quant: unknown tensor type %d", id)
	}
	return f, nil
}

func (f Format) known() bool { return f > Invalid && f < end }

// String is the GGUF spelling.
func (f Format) String() string {
	if !f.known() {
		return fmt.Sprintf("invalid(%d)", uint8(f))
	}
	return layouts[f].name
}

// ID is the number of the format in GGUF files (ggml_type). It means something
// for the formats alone: it is 0, the number of F32, for what is none.
func (f Format) ID() uint32 {
	if !f.known() {
		return 0
	}
	return layouts[f].id
}

// BlockElements is the number of elements in a block, 0 for what is not a
// format.
func (f Format) BlockElements() int {
	if !f.known() {
		return 0
	}
	return layouts[f].elements
}

// BlockBytes is the number of bytes of a block, 0 for what is not a format.
func (f Format) BlockBytes() int {
	if !f.known() {
		return 0
	}
	return layouts[f].bytes
}

// HasEncoder reports whether [Encode] knows the format.
func (f Format) HasEncoder() bool {
	return f.known() && layouts[f].encode != nil
}

// RowBytes is the number of bytes of n consecutive elements: a row, or several
// rows. It is an error when n is not a whole number of blocks.
func (f Format) RowBytes(n int) (int, error) {
	switch elements, bytes := f.BlockElements(), f.BlockBytes(); {
	case !f.known():
		return 0, fmt.Errorf("quant: unknown format %d", uint8(f))
	case n < 0:
		return 0, fmt.Errorf("quant: %v: %d elements", f, n)
	case n%elements != 0:
		return 0, fmt.Errorf("quant: %v: %d elements are not whole blocks of %d", f, n, elements)
	case n/elements > math.MaxInt/bytes:
		return 0, fmt.Errorf("quant: %v: %d elements are too many bytes", f, n)
	default:
		return n / elements * bytes, nil
	}
}
