package quant

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/dtype"
)

func encodeF32(dst []byte, src []float32) error {
	for i, x := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
	}
	return nil
}

func encodeBF16(dst []byte, src []float32) error {
	for i, x := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], dtype.ToBF16(x))
	}
	return nil
}

// encodeF16 keeps infinities, but makes none.
func encodeF16(dst []byte, src []float32) error {
	for i, x := range src {
		h := dtype.ToF16(x)
		if h&0x7c00 == 0x7c00 && finite(x) {
			return fmt.Errorf("element %d: %v is beyond the largest F16", i, x)
		}
		binary.LittleEndian.PutUint16(dst[2*i:], h)
	}
	return nil
}
