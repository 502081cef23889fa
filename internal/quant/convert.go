package quant

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/dtype"
)

// Decode converts the blocks of src to len(dst) float32 elements. len(dst) must
// be a whole number of blocks and src must have exactly their bytes; it needs
// no alignment. Any bytes decode to something, which is NaN or infinite where a
// scale is, or where scale and code together leave float32.
func Decode(f Format, dst []float32, src []byte) error {
	if err := checkSizes(f, len(dst), len(src)); err != nil {
		return err
	}
	l := &layouts[f]
	if l.float != dtype.Invalid {
		return dtype.Decode(l.float, dst, src)
	}
	l.decode(dst, src)
	return nil
}

// Encode converts src to blocks of dst, which must have exactly their bytes;
// len(src) must be a whole number of blocks. After an error the content of dst
// is undefined. It is an error when
//
//   - the format has no encoder ([Format.HasEncoder]);
//   - src holds NaN or an infinity, which no block can hold; F32, F16 and BF16
//     keep them;
//   - an element of F16, or the scale or the offset of a block, lies beyond the
//     largest F16, 65504.
func Encode(f Format, dst []byte, src []float32) error {
	if err := checkSizes(f, len(src), len(dst)); err != nil {
		return err
	}
	l := &layouts[f]
	if l.encode == nil {
		return fmt.Errorf("quant: %v has no encoder", f)
	}
	if l.float == dtype.Invalid {
		for i, x := range src {
			if !finite(x) {
				return fmt.Errorf("quant: %v: element %d is %v", f, i, x)
			}
		}
	}
	if err := l.encode(dst, src); err != nil {
		return fmt.Errorf("quant: %v: %w", f, err)
	}
	return nil
}

func checkSizes(f Format, elements, bytes int) error {
	want, err := f.RowBytes(elements)
	if err != nil {
		return err
	}
	if bytes != want {
		return fmt.Errorf("quant: %v: %d elements are %d bytes, not %d", f, elements, want, bytes)
	}
	return nil
}

func finite(x float32) bool { return x-x == 0 }

// half reads the F16 at the start of b.
func half(b []byte) float32 { return dtype.FromF16(binary.LittleEndian.Uint16(b)) }

// putHalf writes x as F16 to the start of b; what says in an error which number
// of which block it is.
func putHalf(b []byte, x float32, what string, block int) error {
	h := dtype.ToF16(x)
	if h&0x7c00 == 0x7c00 {
		return fmt.Errorf("block %d: %s %v is beyond the largest F16", block, what, x)
	}
	binary.LittleEndian.PutUint16(b, h)
	return nil
}

// reciprocal is 1/d, and 0 for a d of 0 and for one so small that 1/d is
// infinite. Such a d is stored as 0, so that its codes do not matter, but what
// an infinity is as an integer would depend on the machine.
func reciprocal(d float32) float32 {
	r := 1 / d
	if math.IsInf(float64(r), 0) {
		return 0
	}
	return r
}
