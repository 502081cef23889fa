package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
)

// VocabPanel is the number of ids whose statistics are summed together: the
// fixed width of the partial sums from which a token is drawn.
const VocabPanel = 256

// Vocabulary says how head outputs become logits.
type Vocabulary struct {
	// Size is the number of rows of the embedding.
	Size int
	// Softcap bounds the logits: Softcap·tanh(z/Softcap) in float32; 0 leaves
	// them as they are.
	Softcap float32
	// Masked marks ids without a token, which are removed before the softmax;
	// nil masks none.
	Masked []bool
}

// Logits keeps one copy of the head outputs of some rows, and what it takes to
// turn them into processed logits: soft-capped, adjusted, divided by the
// temperature (model.md §5.2). The outputs are kept before the soft-cap, where
// rounding to the activation type loses nothing: as bfloat16 in bf16 arithmetic
// and as float32 otherwise.
type Logits struct {
	vocab Vocabulary
	round Rounding
	rows  int
	raw32 []float32
	raw16 []uint16
	// row holds how each row is processed.
	row []processing
	// injected is true after Set: the values are processed logits.
	injected bool
}

// processing is how one row's head outputs become processed logits.
type processing struct {
	temperature float32
	adjust      canvas.Adjustment
}

// NewLogits returns room for the logits of rows positions, holding nothing.
func NewLogits(v Vocabulary, rows int, round Rounding) *Logits {
	l := &Logits{vocab: v, round: round}
	l.Reset(rows)
	return l
}

// Reset forgets the values and makes room for rows positions.
func (l *Logits) Reset(rows int) {
	l.rows, l.injected = rows, false
	l.row = slices.Grow(l.row[:0], rows)[:rows]
	for r := range l.row {
		p := &l.row[r]
		*p = processing{adjust: canvas.Adjustment{Bias: p.adjust.Bias[:0], Repetition: p.adjust.Repetition[:0]}}
	}
	n := rows * l.vocab.Size
	if l.round == BF16 {
		l.raw16 = slices.Grow(l.raw16[:0], n)[:n]
	} else {
		l.raw32 = slices.Grow(l.raw32[:0], n)[:n]
	}
}

// Bytes is the memory that the logits of rows positions take.
func (v Vocabulary) Bytes(rows int, round Rounding) int64 {
	size := int64(4)
	if round == BF16 {
		size = 2
	}
	return int64(rows) * int64(v.Size) * size
}

// Set makes src [rows × Size] the processed logits, rounded to the type in which
// they are kept.
func (l *Logits) Set(src []float32) error {
	if len(src) != l.rows*l.vocab.Size {
		return fmt.Errorf("kernel: %d logits for %d rows of %d ids", len(src), l.rows, l.vocab.Size)
	}
	l.injected = true
	if l.round == BF16 {
		dtype.EncodeBF16(l.raw16, src)
	} else {
		copy(l.raw32, src)
	}
	return nil
}

// Copy writes the processed logits as self-conditioning reads them to dst [rows
// × Size].
func (l *Logits) Copy(dst []float32) error {
	if len(dst) != l.rows*l.vocab.Size {
		return fmt.Errorf("kernel: room for %d logits, not for %d rows of %d ids", len(dst), l.rows, l.vocab.Size)
	}
	for r := range l.rows {
		row := dst[r*l.vocab.Size : (r+1)*l.vocab.Size]
		l.kept(row, r, 0)
	}
	return nil
}

// Processed writes the processed logits of one row [Size] to dst, unrounded: what
// entropy, argmax and draws use.
func (l *Logits) Processed(dst []float32, row int) { l.processed(dst[:l.vocab.Size], row, 0) }

// store keeps the head outputs of ids first … first+len(z)-1 of a row.
func (l *Logits) store(row, first int, z []float32) {
	at := row*l.vocab.Size + first
	if l.round == BF16 {
		dtype.EncodeBF16(l.raw16[at:at+len(z)], z)
	} else {
		copy(l.raw32[at:at+len(z)], z)
	}
}

// load reads what store kept.
func (l *Logits) load(dst []float32, row, first int) {
	at := row*l.vocab.Size + first
	if l.round == BF16 {
		dtype.DecodeBF16(dst, l.raw16[at:at+len(dst)])
	} else {
		copy(dst, l.raw32[at:at+len(dst)])
	}
}

// processed writes the processed logits of ids first … of a row to dst, in
// float32 without rounding: what entropy, argmax and draws use.
func (l *Logits) processed(dst []float32, row, first int) {
	l.load(dst, row, first)
	if !l.injected {
		l.vocab.process(dst, first, &l.row[row])
	}
}

// kept writes the processed logits as they are kept for self-conditioning: cast
// to the activation type (model.md §4).
func (l *Logits) kept(dst []float32, row, first int) {
	l.processed(dst, row, first)
	l.round.slice(dst)
}

var negInf = float32(math.Inf(-1))

// process turns head outputs z of ids first … into processed logits in place.
// Masked ids become -Inf.
func (v *Vocabulary) process(z []float32, first int, p *processing) {
	v.cap(z)
	if !p.adjust.Empty() {
		adjust(z, first, p.adjust)
	}
	if t := p.temperature; t != 1 {
		for i, x := range z {
			z[i] = x / t
		}
	}
	v.mask(z, first)
}

// cap applies the soft-cap.
func (v *Vocabulary) cap(z []float32) {
	if v.Softcap == 0 {
		return
	}
	for i, x := range z {
		z[i] = float32(tanh32(x/v.Softcap) * v.Softcap)
	}
}

// mask removes ids without a token.
func (v *Vocabulary) mask(z []float32, first int) {
	if v.Masked == nil {
		return
	}
	for i, m := range v.Masked[first : first+len(z)] {
		if m {
			z[i] = negInf
		}
	}
}

// adjust applies an Adjustment to the logits of ids first ….
func adjust(z []float32, first int, a canvas.Adjustment) {
	last := first + len(z)
	for _, f := range a.Repetition {
		if id := int(f.ID); id >= first && id < last {
			if z[id-first] > 0 {
				z[id-first] /= f.Value
			} else {
				z[id-first] = float32(z[id-first] * f.Value)
			}
		}
	}
	for _, b := range a.Bias {
		if id := int(b.ID); id >= first && id < last {
			z[id-first] += b.Value
		}
	}
}
