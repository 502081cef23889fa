package tensor

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/frescolm/fresco/internal/dtype"
)

// Tensor is a dense row-major array: Data holds the elements little-endian and
// without gaps, the last dimension fastest. An empty Shape is a scalar, one
// element. Data is often a file mapping: read it, never write it.
type Tensor struct {
	DType dtype.Type
	Shape []int
	Data  []byte
}

// New returns the tensor of these parts, or an error when data does not have
// exactly the bytes that t and shape need.
func New(t dtype.Type, shape []int, data []byte) (Tensor, error) {
	want, err := Bytes(t, shape)
	if err != nil {
		return Tensor{}, err
	}
	if len(data) != want {
		return Tensor{}, fmt.Errorf("shape %v of %v is %d bytes, not %d", shape, t, want, len(data))
	}
	return Tensor{DType: t, Shape: shape, Data: data}, nil
}

// Elements is the number of elements of a tensor that New accepted.
func (t Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Elements is the product of the dimensions, 1 for no dimension. A negative
// dimension is an error, and so is a product beyond an int, even where another
// dimension is 0: strides of such a shape would overflow.
func Elements(shape []int) (int, error) {
	product, zero := uint64(1), false
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("shape %v has a negative dimension", shape)
		}
		if d == 0 {
			zero = true
			continue
		}
		hi, lo := bits.Mul64(product, uint64(d))
		if hi != 0 || lo > math.MaxInt {
			return 0, fmt.Errorf("shape %v: the number of elements overflows", shape)
		}
		product = lo
	}
	if zero {
		return 0, nil
	}
	return int(product), nil
}

// Bytes is the number of bytes that a tensor of this type and shape takes. A
// type below 8 bits must fill its last byte.
func Bytes(t dtype.Type, shape []int) (int, error) {
	if t.Bits() == 0 {
		return 0, fmt.Errorf("%v is no dtype", t)
	}
	n, err := Elements(shape)
	if err != nil {
		return 0, err
	}
	hi, lo := bits.Mul64(uint64(n), uint64(t.Bits()))
	if lo%8 != 0 {
		return 0, fmt.Errorf("shape %v of %v does not end on a whole byte", shape, t)
	}
	size := hi<<61 | lo>>3
	if hi > 7 || size > math.MaxInt {
		return 0, fmt.Errorf("shape %v of %v: the number of bytes overflows", shape, t)
	}
	return int(size), nil
}
