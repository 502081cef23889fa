package quant

import (
	"bytes"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

// row is the width of the full-size model, which all blocks divide.
const row = 2816

// BenchmarkDecode decodes one row again and again. MB/s counts the bytes of the
// blocks; Gvalue/s counts elements.
func BenchmarkDecode(b *testing.B) {
	dst := make([]float32, row)
	for f := Invalid + 1; f < end; f++ {
		src := make([]byte, row/f.BlockElements()*f.BlockBytes())
		for i := range src {
			src[i] = byte(i*89+13) & 0x3f // every number is finite
		}
		measure(b, f.String(), len(src), func() error { return Decode(f, dst, src) })
	}
	w := FP8{
		Rows: 1, Cols: row, BlockRows: 128, BlockCols: 128,
		Codes: bytes.Repeat([]byte{dtype.ToE4M3(3)}, row), Scales: make([]float32, row/128),
	}
	measure(b, "FP8", len(w.Codes), func() error { return w.DecodeRow(dst, 0) })
	v := NVFP4{
		Rows: 1, Cols: row, Codes: bytes.Repeat([]byte{0x5a}, row/2),
		Scales: bytes.Repeat([]byte{dtype.ToE4M3(3)}, row/NVFP4Group), Global: 3,
	}
	measure(b, "NVFP4", len(v.Codes)+len(v.Scales), func() error { return v.DecodeRow(dst, 0) })
}

// BenchmarkEncode encodes one row again and again; MB/s counts the float32 bytes.
func BenchmarkEncode(b *testing.B) {
	src := make([]float32, row)
	for i := range src {
		src[i] = float32(i*37%101)/50 - 1
	}
	for f := Invalid + 1; f < end; f++ {
		if !f.HasEncoder() {
			continue
		}
		dst := make([]byte, row/f.BlockElements()*f.BlockBytes())
		measure(b, f.String(), 4*row, func() error { return Encode(f, dst, src) })
	}
}

func measure(b *testing.B, name string, size int, run func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(row*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvalue/s")
	})
}
