package tensor

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/frescolm/fresco/internal/dtype"
)

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
