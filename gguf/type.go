package gguf

import (
	"fmt"
	"math"
	"math/bits"
)

// Type is the element type of a tensor, numbered as in a file.
type Type uint32

// The types of ggml, spelled as there. 4, 5, 31 to 33 and 36 to 38 were taken
// out of the format and are refused by name.
const (
	F32     Type = 0
	F16     Type = 1
	Q4_0    Type = 2
	Q4_1    Type = 3
	Q5_0    Type = 6
	Q5_1    Type = 7
	Q8_0    Type = 8
	Q8_1    Type = 9
	Q2_K    Type = 10
	Q3_K    Type = 11
	Q4_K    Type = 12
	Q5_K    Type = 13
	Q6_K    Type = 14
	Q8_K    Type = 15
	IQ2_XXS Type = 16
	IQ2_XS  Type = 17
	IQ3_XXS Type = 18
	IQ1_S   Type = 19
	IQ4_NL  Type = 20
	IQ3_S   Type = 21
	IQ2_S   Type = 22
	IQ4_XS  Type = 23
	I8      Type = 24
	I16     Type = 25
	I32     Type = 26
	I64     Type = 27
	F64     Type = 28
	IQ1_M   Type = 29
	BF16    Type = 30
	TQ1_0   Type = 34
	TQ2_0   Type = 35
	MXFP4   Type = 39
	NVFP4   Type = 40
	Q1_0    Type = 41
	Q2_0    Type = 42
)

const (
	half       = 2   // bytes of a 16-bit scale
	superBlock = 256 // elements of a block of the K, IQ and TQ types
)

// layouts holds the name of every type, the elements of its block, and the
// block's bytes as the sum of its fields in their order.
var layouts = map[Type]struct {
	name  string
	block int
	bytes int
}{
	F32:  {"F32", 1, 4},
	F16:  {"F16", 1, 2},
	BF16: {"BF16", 1, 2},
	F64:  {"F64", 1, 8},
	I8:   {"I8", 1, 1},
	I16:  {"I16", 1, 2},
	I32:  {"I32", 1, 4},
	I64:  {"I64", 1, 8},

	Q1_0: {"Q1_0", 128, half + 128/8},        // scale, bits
	Q2_0: {"Q2_0", 64, half + 64/4},          // scale, 2 bits
	Q4_0: {"Q4_0", 32, half + 32/2},          // scale, 4 bits
	Q4_1: {"Q4_1", 32, 2*half + 32/2},        // scale, minimum, 4 bits
	Q5_0: {"Q5_0", 32, half + 32/8 + 32/2},   // scale, fifth bits, 4 bits
	Q5_1: {"Q5_1", 32, 2*half + 32/8 + 32/2}, // scale, minimum, fifth bits, 4 bits
	Q8_0: {"Q8_0", 32, half + 32},            // scale, 8 bits
	Q8_1: {"Q8_1", 32, 2*half + 32},          // scale, sum, 8 bits

	Q2_K: {"Q2_K", superBlock, 16 + superBlock/4 + 2*half},                // scales, 2 bits, two scales of scales
	Q3_K: {"Q3_K", superBlock, superBlock/8 + superBlock/4 + 12 + half},   // third bits, 2 bits, scales, scale of scales
	Q4_K: {"Q4_K", superBlock, 2*half + 12 + superBlock/2},                // two scales of scales, scales, 4 bits
	Q5_K: {"Q5_K", superBlock, 2*half + 12 + superBlock/8 + superBlock/2}, // the same with fifth bits
	Q6_K: {"Q6_K", superBlock, superBlock/2 + superBlock/4 + 16 + half},   // 4 bits, 2 bits, scales, scale of scales
	Q8_K: {"Q8_K", superBlock, 4 + superBlock + superBlock/16*2},          // float32 scale, 8 bits, sums

	IQ1_S:   {"IQ1_S", superBlock, half + superBlock/8 + superBlock/16},
	IQ1_M:   {"IQ1_M", superBlock, superBlock/8 + superBlock/16 + superBlock/32},
	IQ2_XXS: {"IQ2_XXS", superBlock, half + superBlock/4},
	IQ2_XS:  {"IQ2_XS", superBlock, half + superBlock/4 + superBlock/32},
	IQ2_S:   {"IQ2_S", superBlock, half + superBlock/4 + superBlock/16},
	IQ3_XXS: {"IQ3_XXS", superBlock, half + superBlock/8*3},
	IQ3_S:   {"IQ3_S", superBlock, half + superBlock/32*13 + superBlock/64},
	IQ4_NL:  {"IQ4_NL", 32, half + 32/2},
	IQ4_XS:  {"IQ4_XS", superBlock, half + 2 + superBlock/64 + superBlock/2},
	TQ1_0:   {"TQ1_0", superBlock, (superBlock-4*superBlock/64)/5 + superBlock/64 + half},
	TQ2_0:   {"TQ2_0", superBlock, superBlock/4 + half},

	MXFP4: {"MXFP4", 32, 1 + 32/2},     // e8m0 scale, e2m1
	NVFP4: {"NVFP4", 64, 64/16 + 64/2}, // e4m3 scales, e2m1
}

// removed names the types that ggml took out of the format.
var removed = map[Type]string{
	4: "Q4_2", 5: "Q4_3",
	31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8",
	36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8",
}

// String is the type's name in ggml, or its number for a type that the format
// does not have.
func (t Type) String() string {
	if l, ok := layouts[t]; ok {
		return l.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// BlockSize is the number of elements that are stored together, 1 for a type
// without blocks and 0 for one that the format does not have.
func (t Type) BlockSize() int { return layouts[t].block }

// BlockBytes is the number of bytes of one block, 0 for a type that the format
// does not have.
func (t Type) BlockBytes() int { return layouts[t].bytes }

// Bytes is the number of bytes of a tensor with dims, in ggml's order: dims[0]
// is the length of a row, whose elements are contiguous. It is an error unless
// there are 1 to 4 positive dims, the row is a whole number of blocks and the
// bytes fit an int.
func (t Type) Bytes(dims []int) (int, error) {
	wide := make([]uint64, len(dims))
	for i, d := range dims {
		if d <= 0 {
			return 0, fmt.Errorf("dimension %d is %d, not from 1 to %d", i, d, math.MaxInt)
		}
		wide[i] = uint64(d)
	}
	n, err := t.size(wide)
	return int(n), err
}

// check is an error for a type that the format does not have.
func (t Type) check() error {
	if _, ok := layouts[t]; ok {
		return nil
	}
	if name, ok := removed[t]; ok {
		return fmt.Errorf("tensor type %d (%s) was removed from the format", uint32(t), name)
	}
	return fmt.Errorf("unknown tensor type %d", uint32(t))
}

// size is Bytes on dims as a file has them. Its result fits an int.
func (t Type) size(dims []uint64) (uint64, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	if err := checkDimensionCount(uint64(len(dims))); err != nil {
		return 0, err
	}
	for i, d := range dims {
		if d == 0 || d > math.MaxInt {
			return 0, fmt.Errorf("dimension %d is %d, not from 1 to %d", i, d, math.MaxInt)
		}
	}
	block := uint64(t.BlockSize())
	if dims[0]%block != 0 {
		return 0, fmt.Errorf("row of %d elements is not a multiple of the block of %v, %d", dims[0], t, block)
	}
	n := dims[0] / block
	for _, factor := range append([]uint64{uint64(t.BlockBytes())}, dims[1:]...) {
		over, low := bits.Mul64(n, factor)
		if over != 0 || low > math.MaxInt {
			return 0, fmt.Errorf("the bytes of dims %d of %v overflow", dims, t)
		}
		n = low
	}
	return n, nil
}

const maxDims = 4

func checkDimensionCount(n uint64) error {
	if n == 0 || n > maxDims {
		return fmt.Errorf("dimension count %d is not 1 to %d", n, maxDims)
	}
	return nil
}
