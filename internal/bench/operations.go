package bench

import (
	"fmt"
	"slices"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/quant"
)

// The dimensions of the full-size model (docs/model.md §1).
const (
	hidden      = 2816
	denseWidth  = 2112
	expertWidth = 704
	canvasRows  = 256
	expertRows  = 16 // 256 positions of 8 experts each, over 128 experts
	softcap     = 30
)

// An extent is how much of the full size an operation takes.
type extent struct {
	denseColumns, experts, ids, attentionRows int
}

// The generic class takes less of everything, where each part costs the same.
var (
	vectorExtent  = extent{denseColumns: denseWidth, experts: 16, ids: 4096, attentionRows: 64}
	genericExtent = extent{denseColumns: denseWidth / 16, experts: 1, ids: 512, attentionRows: 8}
)

func extentOf(class string) extent {
	if class == "generic" {
		return genericExtent
	}
	return vectorExtent
}

// An operation is one cell of the table, ready to run.
type operation struct {
	name, shape       string
	operations, bytes float64
	run               func(*kernel.Team)
	// matrix holds the weights of an operation that has some.
	matrix kernel.Matrix
}

// formats are the weights that are measured: those that there is an encoder for. The
// first is what the others are compared with.
var formats = []quant.Format{quant.F32, quant.BF16, quant.F16, quant.Q8_0, quant.Q4_0}

// storage is the memory that the matrices of one format are cut from, filled with
// values between -0.5 and 0.5. Their values do not matter to any kernel.
type storage struct {
	format quant.Format
	data   []byte
}

// newStorage makes room for so many values, in whole blocks.
func newStorage(format quant.Format, values int) (storage, error) {
	const period = 1 << 16
	bytes, err := format.RowBytes(period)
	if err != nil {
		return storage{}, err
	}
	pattern := make([]byte, bytes)
	if err := quant.Encode(format, pattern, numbers(period, 0.5)); err != nil {
		return storage{}, err
	}
	if bytes, err = format.RowBytes(values); err != nil {
		return storage{}, err
	}
	data := make([]byte, bytes)
	for at := 0; at < len(data); {
		at += copy(data[at:], pattern)
	}
	return storage{format, data}, nil
}

// matrix cuts a matrix from the beginning.
func (s storage) matrix(rows, cols int) (kernel.Matrix, error) {
	bytes, err := s.format.RowBytes(rows * cols)
	if err != nil {
		return kernel.Matrix{}, err
	}
	return kernel.NewMatrix(quant.Tensor{Format: s.format, Shape: []int{rows, cols}, Data: s.data[:bytes]})
}

// weightValues is the number of values that the largest operation of an extent
// needs.
func (e extent) weightValues() int {
	return hidden * max(e.denseColumns, e.experts*2*expertWidth, e.ids)
}

// weighted returns the operations with weights.
func weighted(s storage, e extent, round kernel.Rounding) ([]operation, error) {
	var list []operation
	for _, make := range []func(storage, extent, kernel.Rounding) (operation, error){dense, experts, head, softEmbedding} {
		o, err := make(s, e, round)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

func dense(s storage, e extent, round kernel.Rounding) (operation, error) {
	w, err := s.matrix(e.denseColumns, hidden)
	x, dst := numbers(canvasRows*hidden, 1), make([]float32, canvasRows*e.denseColumns)
	return operation{
		name: "dense", shape: fmt.Sprintf("%d × %d × %d", canvasRows, e.denseColumns, hidden), matrix: w,
		operations: 2 * canvasRows * float64(e.denseColumns) * hidden, bytes: float64(w.Bytes()) + floatBytes(x, dst),
		run: func(t *kernel.Team) { t.Linear(dst, x, canvasRows, w, round) },
	}, err
}

func experts(s storage, e extent, round kernel.Rounding) (operation, error) {
	const n = 2 * expertWidth // gate and up
	w, err := s.matrix(e.experts*n, hidden)
	rows := e.experts * expertRows
	x, dst := numbers(rows*hidden, 1), make([]float32, rows*n)
	var offsets []int
	for i := range e.experts + 1 {
		offsets = append(offsets, i*expertRows)
	}
	return operation{
		name: "experts", shape: fmt.Sprintf("%d of %d × %d × %d", e.experts, expertRows, n, hidden), matrix: w,
		operations: 2 * float64(rows) * n * hidden, bytes: float64(w.Bytes()) + floatBytes(x, dst),
		run: func(t *kernel.Team) { t.LinearGrouped(dst, x, offsets, w, n, round) },
	}, err
}

// head is the product with a part of the table, with statistics and a draw.
func head(s storage, e extent, round kernel.Rounding) (operation, error) {
	table, err := s.matrix(e.ids, hidden)
	x := numbers(canvasRows*hidden, 1)
	logits := kernel.NewLogits(kernel.Vocabulary{Size: e.ids, Softcap: softcap}, canvasRows, round)
	stats := make([]canvas.Stats, canvasRows)
	want := slices.Repeat([]kernel.HeadRow{{
		Temperature: 0.8, Candidates: canvas.Candidates{Temperature: 1}, Draw: canvas.Address{Purpose: canvas.PurposeCandidate},
	}}, canvasRows)
	var scratch kernel.HeadScratch
	return operation{
		name: "head", shape: fmt.Sprintf("%d × %d × %d", canvasRows, e.ids, hidden), matrix: table,
		operations: 2 * canvasRows * float64(e.ids) * hidden,
		bytes:      float64(table.Bytes()+logitBytes(e.ids, round)) + floatBytes(x),
		run:        func(t *kernel.Team) { t.Head(logits, stats, x, table, want, &scratch) },
	}, err
}

// softEmbedding is the probabilities of a canvas times a part of the table.
func softEmbedding(s storage, e extent, round kernel.Rounding) (operation, error) {
	table, err := s.matrix(e.ids, hidden)
	if err != nil {
		return operation{}, err
	}
	logits := kernel.NewLogits(kernel.Vocabulary{Size: e.ids, Softcap: softcap}, canvasRows, round)
	err = logits.Set(numbers(canvasRows*e.ids, 8))
	dst := make([]float32, canvasRows*hidden)
	var scratch kernel.SoftScratch
	return operation{
		name: "soft embedding", shape: fmt.Sprintf("%d × %d × %d", canvasRows, hidden, e.ids), matrix: table,
		operations: 2 * canvasRows * float64(e.ids) * hidden,
		bytes:      float64(table.Bytes()+logitBytes(e.ids, round)) + floatBytes(dst),
		run:        func(t *kernel.Team) { t.SoftEmbed(dst, logits, table, 53, &scratch) },
	}, err
}

// unweighted returns the operations without weights: attention as a canvas sees it
// after 1,500 committed tokens, and the elementwise ones, whose exponentials count as
// one operation.
func unweighted(e extent, round kernel.Rounding) []operation {
	return []operation{
		attention("attention, sliding", e.attentionRows, 8, 256, 1279, round),
		attention("attention, full", e.attentionRows, 2, 512, 1756, round),
		rmsNorm(round), geluMul(round),
	}
}

func attention(name string, rows, kvHeads, dim, keys int, round kernel.Rounding) operation {
	const heads = 16
	a := &kernel.Attention{
		Q: numbers(rows*heads*dim, 1), Out: make([]float32, rows*heads*dim), Heads: heads, KVHeads: kvHeads, Dim: dim,
		Spans: slices.Repeat([]kernel.Span{{Lo: 0, Hi: keys}}, rows), Round: round,
	}
	block, n := kernel.KVBlock{Count: keys}, keys*kvHeads*dim
	kvBytes := 8 * float64(n)
	if round == kernel.BF16 {
		block.K16, block.V16 = make([]uint16, n), make([]uint16, n)
		dtype.EncodeBF16(block.K16, numbers(n, 1))
		dtype.EncodeBF16(block.V16, numbers(n, 1))
		kvBytes = 4 * float64(n)
	} else {
		block.K32, block.V32 = numbers(n, 1), numbers(n, 1)
	}
	a.Blocks = []kernel.KVBlock{block}
	return operation{
		name: name, shape: fmt.Sprintf("%d × %d heads of %d, %d keys", rows, heads, dim, keys),
		operations: 4 * float64(rows*heads) * float64(keys*dim), bytes: kvBytes + floatBytes(a.Q, a.Out),
		run: func(t *kernel.Team) { t.Attend(a) },
	}
}

// rmsNorm squares, adds, scales and weighs each value.
func rmsNorm(round kernel.Rounding) operation {
	const n = canvasRows * hidden
	x, w, dst := numbers(n, 4), numbers(hidden, 1), make([]float32, n)
	return operation{
		name: "RMSNorm", shape: fmt.Sprintf("%d × %d", canvasRows, hidden), operations: 4 * n, bytes: floatBytes(x, dst),
		run: func(t *kernel.Team) { t.RMSNorm(dst, x, w, canvasRows, 1e-6, round) },
	}
}

// geluMul cubes (2), weighs and adds (3), takes tanh (1), adds 1, halves, and
// multiplies twice.
func geluMul(round kernel.Rounding) operation {
	const n = canvasRows * denseWidth
	gate, up, dst := numbers(n, 4), numbers(n, 1), make([]float32, n)
	return operation{
		name: "GELU × up", shape: fmt.Sprintf("%d × %d", canvasRows, denseWidth), operations: 10 * n, bytes: floatBytes(gate, up, dst),
		run: func(t *kernel.Team) { t.GELUMulSplit(dst, gate, up, canvasRows, denseWidth, round) },
	}
}

// numbers returns values between -size and size, always the same.
func numbers(n int, size float32) []float32 {
	list := make([]float32, n)
	state := uint32(1)
	for i := range list {
		state = state*1664525 + 1013904223
		list[i] = (float32(state>>8)/(1<<23) - 1) * size
	}
	return list
}

func floatBytes(slices ...[]float32) float64 {
	n := 0
	for _, s := range slices {
		n += 4 * len(s)
	}
	return float64(n)
}

func logitBytes(ids int, round kernel.Rounding) int64 {
	return kernel.Vocabulary{Size: ids}.Bytes(canvasRows, round)
}
