package quant

import (
	"math"
	"testing"
)

// FuzzDecode decodes arbitrary bytes. Each block must come out the same alone
// as among others, and what is finite must be refused or come back finite from
// the encoder.
func FuzzDecode(f *testing.F) {
	for format := Invalid; format <= end; format++ {
		block := make([]byte, max(2*format.BlockBytes(), 8))
		for i := range block {
			block[i] = byte(i*89 + 13)
		}
		f.Add(uint8(format), block)
	}
	f.Fuzz(func(t *testing.T, number uint8, src []byte) {
		format := Format(number)
		size, elements := format.BlockBytes(), format.BlockElements()
		if size == 0 {
			if err := Decode(format, make([]float32, len(src)), src); err == nil {
				t.Fatalf("format %d was decoded", number)
			}
			return
		}
		n := len(src) / size
		y := make([]float32, n*elements)
		if err := Decode(format, y, src); (err == nil) != (len(src) == n*size) {
			t.Fatalf("%v, %d bytes: %v", format, len(src), err)
		}
		src = src[:n*size]
		if err := Decode(format, y, src); err != nil {
			t.Fatal(err)
		}
		alone := make([]float32, elements)
		for block := range n {
			if err := Decode(format, alone, src[block*size:][:size]); err != nil {
				t.Fatal(err)
			}
			for i, x := range alone {
				if math.Float32bits(x) != math.Float32bits(y[block*elements+i]) {
					t.Fatalf("%v: element %d of block %d is %v alone and %v in the row", format, i, block, x, y[block*elements+i])
				}
			}
		}
		if !format.HasEncoder() {
			return
		}
		b := make([]byte, len(src))
		if err := Encode(format, b, y); err != nil {
			return
		}
		back := make([]float32, len(y))
		if err := Decode(format, back, b); err != nil {
			t.Fatal(err)
		}
		if allFinite(y) && !allFinite(back) {
			t.Fatalf("%v: %v came back as %v", format, y, back)
		}
	})
}
