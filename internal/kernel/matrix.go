package kernel

import (
	"fmt"

	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/tensor"
)

// A Matrix is a weight matrix [Rows × Cols] as it is stored, rows contiguous:
// the [out, in] of a linear layer, or a table of embeddings. A row is a whole
// number of the format's blocks. It is read, never written; the bytes are often a
// file mapping.
type Matrix struct {
	Rows, Cols int
	format     quant.Format
	data       []byte
	rowBytes   int
}

// NewMatrix takes a tensor as a matrix: its last dimension is Cols, the others
// together are Rows. It is an error unless a row is a whole number of blocks.
func NewMatrix(t quant.Tensor) (Matrix, error) {
	if len(t.Shape) < 2 {
		return Matrix{}, fmt.Errorf("kernel: a tensor of shape %v is no matrix", t.Shape)
	}
	elements, err := tensor.Elements(t.Shape)
	if err != nil {
		return Matrix{}, fmt.Errorf("kernel: %w", err)
	}
	cols := t.Shape[len(t.Shape)-1]
	rowBytes, err := t.Format.RowBytes(cols)
	if err != nil {
		return Matrix{}, fmt.Errorf("kernel: a row: %w", err)
	}
	bytes, err := t.Format.RowBytes(elements)
	if err != nil {
		return Matrix{}, fmt.Errorf("kernel: %w", err)
	}
	if bytes != len(t.Data) {
		return Matrix{}, fmt.Errorf("kernel: shape %v of %v needs %d bytes, not %d", t.Shape, t.Format, bytes, len(t.Data))
	}
	m := Matrix{Cols: cols, format: t.Format, data: t.Data, rowBytes: rowBytes}
	if cols > 0 {
		m.Rows = elements / cols
	}
	return m, nil
}

// Bytes is the memory of the matrix as it is stored.
func (m Matrix) Bytes() int64 { return int64(len(m.data)) }

// unpack decodes rows first … first+rows-1 to float32, rounded as the
// activations are: in bf16 arithmetic the weights are bf16 too.
func (m Matrix) unpack(dst []float32, first, rows int, round Rounding) {
	m.decode(dst[:rows*m.Cols], m.data[first*m.rowBytes:(first+rows)*m.rowBytes], round)
}

// unpackColumns decodes columns c … c+n-1 of some rows, as unpack does. Both c
// and n are whole blocks of the format.
func (m Matrix) unpackColumns(dst []float32, first, rows, c, n int, round Rounding) {
	block, size := m.format.BlockElements(), m.format.BlockBytes()
	for r := range rows {
		at := (first+r)*m.rowBytes + c/block*size
		m.decode(dst[r*n:(r+1)*n], m.data[at:at+n/block*size], round)
	}
}

func (m Matrix) decode(dst []float32, src []byte, round Rounding) {
	if err := quant.Decode(m.format, dst, src); err != nil {
		panic(err) // NewMatrix has checked format and size
	}
	if m.format != quant.BF16 {
		round.slice(dst)
	}
}
