package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/quant"
)

func TestNewMatrix(t *testing.T) {
	m, err := NewMatrix(quant.Tensor{Format: quant.BF16, Shape: []int{3, 4, 5}, Data: make([]byte, 120)})
	if err != nil {
		t.Fatal(err)
	}
	if m.Rows != 12 || m.Cols != 5 || m.rowBytes != 10 {
		t.Errorf("a [3 4 5] tensor is %d × %d with %d bytes a row", m.Rows, m.Cols, m.rowBytes)
	}
	if m, err := NewMatrix(quant.Tensor{Format: quant.F32, Shape: []int{0, 5}}); err != nil || m.Rows != 0 {
		t.Errorf("no rows: %+v, %v", m, err)
	}
	for _, c := range []struct {
		name  string
		typ   quant.Format
		shape []int
		bytes int
		want  string
	}{
		{"vector", quant.F32, []int{4}, 16, "shape [4] is no matrix"},
		{"scalar", quant.F32, nil, 4, "is no matrix"},
		{"no format", quant.Invalid, []int{2, 2}, 4, "unknown format"},
		{"short", quant.F32, []int{2, 2}, 12, "needs 16 bytes, not 12"},
		{"long", quant.BF16, []int{2, 2}, 9, "needs 8 bytes, not 9"},
		{"negative", quant.BF16, []int{-2, 2}, 8, "-2"},
		{"overflow", quant.BF16, []int{1 << 40, 1 << 40}, 8, "1099511627776"},
		{"part of a block", quant.Q8_0, []int{32, 33}, 33 * 34, "33 elements are not whole blocks of 32"},
	} {
		_, err := NewMatrix(quant.Tensor{Format: c.typ, Shape: c.shape, Data: make([]byte, c.bytes)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestMatrixUnpack(t *testing.T) {
	eachArithmetic(t, func(t *testing.T, typ dtype.Type, round Rounding) {
		const rows, cols = 9, 13
		v := uniforms(newRandom(1), rows*cols, 4)
		m, want := newMatrix(t, typ, rows, cols, v), storedValues(typ, round, v)

		got := make([]float32, 4*cols)
		m.unpack(got, 3, 4, round)
		sameBits(t, "rows", got, want[3*cols:7*cols])

		got = make([]float32, 3*5)
		m.unpackColumns(got, 4, 3, 6, 5, round)
		for r := range 3 {
			at := (4+r)*cols + 6
			sameBits(t, "columns", got[r*5:(r+1)*5], want[at:at+5])
		}
	})
}

// TestMatrixOfBlocks compares unpacking with the decoder of the whole tensor, for
// every format.
func TestMatrixOfBlocks(t *testing.T) {
	for _, m := range blockMatrices(t, 9, 2) {
		for _, round := range []Rounding{F32, BF16} {
			t.Run(fmt.Sprintf("%v/%s", m.format, roundingName(round)), func(t *testing.T) {
				want := decoded(t, m, round)
				cols, block := m.Cols, m.format.BlockElements()
				got := make([]float32, 4*cols)
				m.unpack(got, 3, 4, round)
				sameBits(t, "rows", got, want[3*cols:7*cols])
				got = got[:3*block]
				m.unpackColumns(got, 4, 3, block, block, round)
				for r := range 3 {
					at := (4+r)*cols + block
					sameBits(t, "columns", got[r*block:(r+1)*block], want[at:at+block])
				}
			})
		}
	}
}

func TestEmbed(t *testing.T) {
	eachArithmetic(t, func(t *testing.T, typ dtype.Type, round Rounding) {
		const rows, cols = 30, 7
		v := uniforms(newRandom(2), rows*cols, 4)
		table, stored := newMatrix(t, typ, rows, cols, v), storedValues(typ, round, v)
		const scale = 53
		ids := []int32{29, 0, 5, 5, 17, 1, 2, 3, 4, 29}
		for _, threads := range threadCounts {
			got := make([]float32, len(ids)*cols)
			newTeam(t, threads).Embed(got, ids, table, scale, round)
			for r, id := range ids {
				for c := range cols {
					want := round.value(float32(stored[int(id)*cols+c] * scale))
					sameBits(t, "embedding", got[r*cols+c:r*cols+c+1], []float32{want})
				}
			}
		}
	})
}
