package kernel

import (
	"fmt"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/tensor"
)

// A Matrix is a weight matrix [Rows × Cols] as it is stored, rows contiguous:
// the [out, in] of a linear layer, or a table of embeddings. It is read, never
// written; the bytes are often a file mapping.
type Matrix struct {
	Rows, Cols int
	dtype      dtype.Type
	data       []byte
	rowBytes   int
}

// NewMatrix takes a tensor as a matrix: its last dimension is Cols, the others
// together are Rows. The type must be F32, BF16 or F16.
func NewMatrix(t tensor.Tensor) (Matrix, error) {
	if len(t.Shape) < 2 {
		return Matrix{}, fmt.Errorf("kernel: a tensor of shape %v is no matrix", t.Shape)
	}
	switch t.DType {
	case dtype.F32, dtype.BF16, dtype.F16:
	default:
		return Matrix{}, fmt.Errorf("kernel: no kernels for weights of type %v", t.DType)
	}
	cols := t.Shape[len(t.Shape)-1]
	rows := 1
	for _, n := range t.Shape[:len(t.Shape)-1] {
		rows *= n
	}
	bytes, err := tensor.Bytes(t.DType, t.Shape)
	if err != nil {
		return Matrix{}, err
	}
	if bytes != len(t.Data) {
		return Matrix{}, fmt.Errorf("kernel: shape %v needs %d bytes, not %d", t.Shape, bytes, len(t.Data))
	}
	m := Matrix{Rows: rows, Cols: cols, dtype: t.DType, data: t.Data}
	if rows > 0 {
		m.rowBytes = bytes / rows
	}
	return m, nil
}

// unpack decodes rows first … first+rows-1 to float32, rounded as the
// activations are: in bf16 arithmetic the weights are bf16 too.
func (m Matrix) unpack(dst []float32, first, rows int, round Rounding) {
	src := m.data[first*m.rowBytes : (first+rows)*m.rowBytes]
	if err := dtype.Decode(m.dtype, dst[:rows*m.Cols], src); err != nil {
		panic(err) // NewMatrix has checked type and size
	}
	if m.dtype != dtype.BF16 {
		round.slice(dst[:rows*m.Cols])
	}
}

// unpackColumns decodes columns c … c+n-1 of some rows, as unpack does.
func (m Matrix) unpackColumns(dst []float32, first, rows, c, n int, round Rounding) {
	size := m.rowBytes / m.Cols
	for r := range rows {
		at := (first+r)*m.rowBytes + c*size
		if err := dtype.Decode(m.dtype, dst[r*n:(r+1)*n], m.data[at:at+n*size]); err != nil {
			panic(err) // NewMatrix has checked type and size
		}
	}
	if m.dtype != dtype.BF16 {
		round.slice(dst[:rows*n])
	}
}
