package safetensors

import (
	"io"
	"strconv"
	"strings"

	"github.com/frescolm/fresco/internal/dtype"
)

// DType is an element type, spelled as in a file's header.
type DType string

// The element types of the format.
const (
	BOOL       DType = "BOOL"
	F4         DType = "F4"
	F6E2M3     DType = "F6_E2M3"
	F6E3M2     DType = "F6_E3M2"
	U8         DType = "U8"
	I8         DType = "I8"
	F8E4M3     DType = "F8_E4M3"
	F8E5M2     DType = "F8_E5M2"
	F8E8M0     DType = "F8_E8M0"
	F8E4M3FNUZ DType = "F8_E4M3FNUZ"
	F8E5M2FNUZ DType = "F8_E5M2FNUZ"
	U16        DType = "U16"
	I16        DType = "I16"
	F16        DType = "F16"
	BF16       DType = "BF16"
	U32        DType = "U32"
	I32        DType = "I32"
	F32        DType = "F32"
	U64        DType = "U64"
	I64        DType = "I64"
	F64        DType = "F64"
	C64        DType = "C64"
)

// Bits is the width of one element in bits, 0 for a type that the format does
// not have.
func (d DType) Bits() int {
	t, err := dtype.Parse(string(d))
	if err != nil {
		return 0
	}
	return t.Bits()
}

// Tensor is a dense row-major array. Data holds its elements little-endian and
// without gaps, the last dimension fastest; elements below 8 bits are packed.
// An empty Shape is a scalar.
//
// The Data of a tensor that was read belongs to its file: it may be read-only
// memory, must not be written to, need not be aligned, and is gone when the
// file is closed.
type Tensor struct {
	DType DType
	Shape []int
	Data  []byte

	// Content writes the data when the tensor is written, in place of Data: for
	// tensors that do not exist as a whole. It is nil for a tensor that was read.
	Content func(w io.Writer) error
}

// label gives a name from a file as error texts show it: as it is where it is
// plain, quoted where it could mislead or garble a terminal, cut where it is
// too long.
func label(name string) string {
	const limit = 200
	cut := ""
	if len(name) > limit {
		name, cut = name[:limit], "…"
	}
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r == ' ' || r == '"' || !strconv.IsPrint(r)
	})
	if !plain {
		name = strconv.Quote(name)
	}
	return name + cut
}
