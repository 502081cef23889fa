package fake

import (
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
)

// check refuses a step that breaks the contract, naming the item.
func (b *Backend) check(items []model.Item) error {
	if b.closed {
		return fmt.Errorf("fake: step: the backend was closed")
	}
	encoded := map[model.Sequence]bool{}
	read := map[model.Sequence]bool{}
	denoised := map[model.Canvas]bool{}
	for i, item := range items {
		var err error
		switch {
		case (item.Encode == nil) == (item.Denoise == nil):
			err = fmt.Errorf("exactly one of Encode and Denoise must be set")
		case item.Encode != nil:
			if s := item.Encode.Sequence; encoded[s] || read[s] {
				err = fmt.Errorf("encode: another item of this step has the same sequence")
			} else {
				encoded[s] = true
				err = b.checkEncode(item.Encode)
			}
		default:
			d := item.Denoise
			if encoded[d.Sequence] || denoised[d.Canvas] {
				err = fmt.Errorf("denoise: another item of this step has the same sequence or canvas")
			} else {
				read[d.Sequence], denoised[d.Canvas] = true, true
				err = b.checkDenoise(d)
			}
		}
		if err != nil {
			return fmt.Errorf("fake: item %d: %w", i, err)
		}
	}
	return nil
}

func (b *Backend) checkSequence(s model.Sequence) (*sequence, error) {
	own, ok := s.(*sequence)
	switch {
	case !ok || own == nil || own.backend != b:
		return nil, fmt.Errorf("the sequence is not of this backend")
	case own.released:
		return nil, fmt.Errorf("the sequence was released")
	}
	return own, nil
}

func (b *Backend) checkEncode(e *model.Encode) error {
	s, err := b.checkSequence(e.Sequence)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	n := e.Tokens()
	if total := len(s.ids) + n; total > b.config.MaxPositions {
		return fmt.Errorf("encode: %d tokens at position %d: the limit is %d", n, len(s.ids), b.config.MaxPositions)
	}
	for _, segment := range e.Segments {
		if err := b.checkIDs(segment.IDs); err != nil {
			return fmt.Errorf("encode: %w", err)
		}
	}
	for i, row := range e.Rows {
		if row.Index == model.LastCommitted {
			if n == 0 && !s.answerable {
				return fmt.Errorf("encode: row %d: no last committed row can be asked", i)
			}
		} else if row.Index < 0 || row.Index >= n {
			return fmt.Errorf("encode: row %d: index %d of %d tokens", i, row.Index, n)
		}
		if err := b.checkQuestion(Ask(row.Sampling)); err != nil {
			return fmt.Errorf("encode: row %d: %w", i, err)
		}
	}
	return nil
}

func (b *Backend) checkDenoise(d *model.Denoise) error {
	s, err := b.checkSequence(d.Sequence)
	if err != nil {
		return fmt.Errorf("denoise: %w", err)
	}
	c, ok := d.Canvas.(*state)
	switch {
	case !ok || c == nil || c.backend != b:
		return fmt.Errorf("denoise: the canvas is not of this backend")
	case c.released:
		return fmt.Errorf("denoise: the canvas was released")
	case c.sequence != s:
		return fmt.Errorf("denoise: the canvas was made by another sequence")
	case len(d.IDs) != c.length:
		return fmt.Errorf("denoise: %d ids for a canvas of %d", len(d.IDs), c.length)
	case len(s.ids)+c.length > b.config.MaxPositions:
		return fmt.Errorf("denoise: a canvas of %d at position %d: the limit is %d", c.length, len(s.ids), b.config.MaxPositions)
	case d.Adjust != nil && len(d.Adjust) != c.length:
		return fmt.Errorf("denoise: %d adjustments for a canvas of %d", len(d.Adjust), c.length)
	}
	if err := b.checkIDs(d.IDs); err != nil {
		return fmt.Errorf("denoise: %w", err)
	}
	q := Question{Temperature: d.Temperature, Candidates: d.Candidates, Score: d.Score, Top: d.Top}
	if err := b.checkQuestion(q); err != nil {
		return fmt.Errorf("denoise: %w", err)
	}
	for i, a := range d.Adjust {
		if err := b.checkAdjustment(a); err != nil {
			return fmt.Errorf("denoise: position %d: %w", i, err)
		}
	}
	return nil
}

func (b *Backend) checkQuestion(q Question) error {
	for _, t := range []float32{q.Temperature, q.Candidates.Temperature} {
		if !(t >= 0) || math.IsInf(float64(t), 0) {
			return fmt.Errorf("temperature %v is not a finite number ≥ 0", t)
		}
	}
	if q.Temperature == 0 {
		return fmt.Errorf("temperature 0")
	}
	if q.Top < 0 {
		return fmt.Errorf("top %d", q.Top)
	}
	if q.Allowed != nil && len(q.Allowed) == 0 {
		return fmt.Errorf("no id is allowed")
	}
	if err := b.checkIDs(q.Allowed); err != nil {
		return fmt.Errorf("allowed: %w", err)
	}
	for i, id := range q.Allowed {
		if i > 0 && id <= q.Allowed[i-1] {
			return fmt.Errorf("allowed: %d after %d", id, q.Allowed[i-1])
		}
	}
	if err := b.checkIDs(q.Score); err != nil {
		return fmt.Errorf("score: %w", err)
	}
	return b.checkAdjustment(q.Adjust)
}

func (b *Backend) checkAdjustment(a canvas.Adjustment) error {
	for _, f := range a.Repetition {
		if err := b.checkIDs([]int32{f.ID}); err != nil {
			return fmt.Errorf("repetition: %w", err)
		}
		if !(f.Value > 0) || math.IsInf(float64(f.Value), 0) {
			return fmt.Errorf("repetition: factor %v", f.Value)
		}
	}
	for _, f := range a.Bias {
		if err := b.checkIDs([]int32{f.ID}); err != nil {
			return fmt.Errorf("bias: %w", err)
		}
		if math.IsNaN(float64(f.Value)) || math.IsInf(float64(f.Value), 0) {
			return fmt.Errorf("bias: %v", f.Value)
		}
	}
	return nil
}

func (b *Backend) checkIDs(ids []int32) error {
	for i, id := range ids {
		if id < 0 || int(id) >= b.config.VocabSize {
			return fmt.Errorf("id %d at index %d is not in 0 … %d", id, i, b.config.VocabSize-1)
		}
	}
	return nil
}
