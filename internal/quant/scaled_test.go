package quant

import (
	"math"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

// TestFP8Blocks compares every element with its definition, over odd shapes and
// blocks that are cut off at the edges.
func TestFP8Blocks(t *testing.T) {
	sizes := []int{1, 2, 3, 5, 7, 15, 17}
	for _, rows := range sizes {
		for _, cols := range sizes {
			for _, blockRows := range []int{1, 2, 4, rows, rows + 3} {
				for _, blockCols := range []int{1, 3, 4, cols, cols + 1} {
					across := (cols + blockCols - 1) / blockCols
					w := FP8{
						Rows: rows, Cols: cols, BlockRows: blockRows, BlockCols: blockCols,
						Codes:  make([]byte, rows*cols),
						Scales: make([]float32, (rows+blockRows-1)/blockRows*across),
					}
					for i := range w.Codes {
						w.Codes[i] = byte(i*37) & 0x7e
					}
					for i := range w.Scales {
						w.Scales[i] = 0.1 + float32(i)
					}
					got := make([]float32, cols)
					for r := range rows {
						if err := w.DecodeRow(got, r); err != nil {
							t.Fatal(err)
						}
						for c := range cols {
							want := dtype.FromE4M3(w.Codes[r*cols+c]) * w.Scales[r/blockRows*across+c/blockCols]
							if got[c] != want {
								t.Fatalf("%d×%d in %d×%d: [%d,%d] is %v, want %v", rows, cols, blockRows, blockCols, r, c, got[c], want)
							}
						}
					}
				}
			}
		}
	}
}

func TestFP8Refuses(t *testing.T) {
	good := FP8{Rows: 3, Cols: 5, BlockRows: 2, BlockCols: 2, Codes: make([]byte, 15), Scales: make([]float32, 6)}
	tests := []struct {
		want   string
		change func(*FP8)
	}{
		{"", func(*FP8) {}},
		{"a matrix of -3×5", func(w *FP8) { w.Rows = -3 }},
		{"in blocks of 0×2", func(w *FP8) { w.BlockRows = 0 }},
		{"in blocks of 2×-1", func(w *FP8) { w.BlockCols = -1 }},
		{"14 codes for a matrix of 3×5", func(w *FP8) { w.Codes = w.Codes[1:] }},
		{"0 codes for a matrix of 4×", func(w *FP8) { w.Rows, w.Cols, w.Codes = 4, math.MaxInt/2+1, nil }}, // 0 when multiplied
		{"5 scales for 2×3 blocks", func(w *FP8) { w.Scales = w.Scales[1:] }},
		{"6 scales for 1×1 blocks", func(w *FP8) { w.BlockRows, w.BlockCols = 3, 5 }},
		{"15 codes for a matrix of 3×0", func(w *FP8) { w.Cols = 0 }},
	}
	for _, tt := range tests {
		w := good
		tt.change(&w)
		refused(t, w.Check(), "quant: FP8: ", tt.want)
	}
	refused(t, good.DecodeRow(make([]float32, 5), 2), "quant: FP8: ", "")
	refused(t, good.DecodeRow(make([]float32, 5), 3), "quant: FP8: ", "row 3 to 5 elements from a matrix of 3×5")
	refused(t, good.DecodeRow(make([]float32, 5), -1), "quant: FP8: ", "row -1 to 5 elements")
	refused(t, good.DecodeRow(make([]float32, 4), 0), "quant: FP8: ", "row 0 to 4 elements")
	broken := good
	broken.Scales = nil
	refused(t, broken.DecodeRow(make([]float32, 5), 0), "quant: FP8: ", "0 scales for 2×3 blocks")
}

func TestNVFP4Refuses(t *testing.T) {
	good := NVFP4{Rows: 3, Cols: 32, Codes: make([]byte, 48), Scales: make([]byte, 6), Global: 1}
	tests := []struct {
		want   string
		change func(*NVFP4)
	}{
		{"", func(*NVFP4) {}},
		{"", func(w *NVFP4) { w.Rows, w.Codes, w.Scales = 0, nil, nil }},
		{"a matrix of -1×32", func(w *NVFP4) { w.Rows = -1 }},
		{"a matrix of 3×40 in groups of 16", func(w *NVFP4) { w.Cols = 40 }},
		{"unknown form 2", func(w *NVFP4) { w.Form = 2 }},
		{"47 bytes of codes for a matrix of 3×32", func(w *NVFP4) { w.Codes = w.Codes[1:] }},
		{"7 scales for a matrix of 3×32", func(w *NVFP4) { w.Scales = make([]byte, 7) }},
	}
	for _, tt := range tests {
		w := good
		tt.change(&w)
		refused(t, w.Check(), "quant: NVFP4: ", tt.want)
	}
	refused(t, good.DecodeRow(make([]float32, 32), 2), "quant: NVFP4: ", "")
	refused(t, good.DecodeRow(make([]float32, 32), 3), "quant: NVFP4: ", "row 3 to 32 elements from a matrix of 3×32")
	refused(t, good.DecodeRow(make([]float32, 16), 0), "quant: NVFP4: ", "row 0 to 16 elements")
	broken := good
	broken.Codes = nil
	refused(t, broken.DecodeRow(make([]float32, 32), 0), "quant: NVFP4: ", "0 bytes of codes")
}

// refused fails unless err begins with prefix and holds want; "" stands for no
// error.
func refused(t *testing.T, err error, prefix, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	if err == nil || !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
