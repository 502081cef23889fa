package quant

import (
	"fmt"

	"github.com/frescolm/fresco/internal/dtype"
)

// FP8 is a weight matrix of FP8 E4M3 codes with one scale for each block, as in
// compressed-tensors ("float-quantized"). The block says what kind it is:
//
//	per tensor    BlockRows = Rows, BlockCols = Cols
//	per channel   BlockRows = 1,    BlockCols = Cols
//	per block     the two of the checkpoint, such as 128 and 128
//
// Blocks at the right and lower edge may be cut off.
type FP8 struct {
	Rows, Cols           int
	Codes                []byte // e4m3, [Rows, Cols]
	BlockRows, BlockCols int
	Scales               []float32 // [⌈Rows/BlockRows⌉, ⌈Cols/BlockCols⌉]
	// RoundBF16 is set where the scales are stored in bf16. compressed-tensors
	// multiplies in the type of the scales, so that the weight is the product
	// rounded to bf16.
	RoundBF16 bool
}

// Check is an error when the parts do not fit together.
func (w *FP8) Check() error {
	if w.Rows < 0 || w.Cols < 0 || w.BlockRows < 1 || w.BlockCols < 1 {
		return fmt.Errorf("quant: FP8: a matrix of %d×%d in blocks of %d×%d", w.Rows, w.Cols, w.BlockRows, w.BlockCols)
	}
	if !area(w.Rows, w.Cols, len(w.Codes)) {
		return fmt.Errorf("quant: FP8: %d codes for a matrix of %d×%d", len(w.Codes), w.Rows, w.Cols)
	}
	down, across := blocks(w.Rows, w.BlockRows), blocks(w.Cols, w.BlockCols)
	if !area(down, across, len(w.Scales)) {
		return fmt.Errorf("quant: FP8: %d scales for %d×%d blocks", len(w.Scales), down, across)
	}
	return nil
}

// DecodeRow sets dst, of Cols elements, to row r: the product of code and scale
// in float32. Codes 0x7f and 0xff are NaN.
func (w *FP8) DecodeRow(dst []float32, r int) error {
	if err := w.Check(); err != nil {
		return err
	}
	if r < 0 || r >= w.Rows || len(dst) != w.Cols {
		return fmt.Errorf("quant: FP8: row %d to %d elements from a matrix of %d×%d", r, len(dst), w.Rows, w.Cols)
	}
	across := blocks(w.Cols, w.BlockCols)
	scales := w.Scales[r/w.BlockRows*across:][:across]
	for i, c := range w.Codes[r*w.Cols:][:w.Cols] {
		dst[i] = dtype.FromE4M3(c) * scales[i/w.BlockCols]
	}
	if w.RoundBF16 {
		dtype.RoundBF16Slice(dst)
	}
	return nil
}

// blocks is the number of blocks of size that cover n.
func blocks(n, size int) int {
	if n == 0 {
		return 0
	}
	return (n-1)/size + 1
}

// area reports whether rows·cols is n, without forming a product that could
// overflow.
func area(rows, cols, n int) bool {
	if rows == 0 || cols == 0 {
		return n == 0
	}
	return n%cols == 0 && n/cols == rows
}
