package gemma

import (
	"context"
	"errors"
	"fmt"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// encode runs one Encode item (model.md §3.5): it appends keys and values of the
// new tokens to the sequence and answers the rows that were asked for. When the
// result reports NaN or infinity, or an error is returned, the sequence is as
// before.
func (b *Backend) encode(ctx context.Context, e *model.Encode) (model.Result, error) {
	s := e.Sequence.(*sequence)
	b.forward.clock.start(len(b.config.layers))
	b.ids = b.ids[:0]
	for _, segment := range e.Segments {
		b.ids = append(b.ids, segment.IDs...)
	}
	ids := b.ids
	if len(ids) == 0 {
		result, err := b.answer(e, s.last, nil, s.length)
		b.clockStop(&pass{}, len(e.Rows), false)
		return result, err
	}
	before := s.length
	need, rowOf := neededRows(b.needed[:0], e.Rows, len(ids), b.forward.probe != nil)
	b.needed = need
	p := &pass{
		first: before, rows: len(ids), scalars: b.weights.encoderScalar, need: need,
		span: func(kind model.LayerKind, r int) kernel.Span {
			at := before + r
			if kind == model.Full {
				return kernel.Span{Lo: 0, Hi: at + 1}
			}
			return kernel.Span{Lo: b.config.seenFrom(at), Hi: at + 1}
		},
		store: func(layer int, k, v []float32) { s.layers[layer].write(before, k, v) },
		blocks: func(dst []kernel.KVBlock, layer, lo, hi int) []kernel.KVBlock {
			return s.layers[layer].blocks(dst, lo, hi)
		},
	}
	x := floats(&b.forward.scratch.x, len(ids)*b.config.hidden)
	b.team.Embed(x, ids, b.weights.embed, b.forward.embedScale, b.round)
	x, bad, err := b.forward.run(ctx, p, x)
	if err != nil || bad != nil {
		answerable := s.answerable
		s.cut(before)
		s.answerable = answerable
		return model.Result{NonFinite: bad}, err
	}
	final := b.forward.finalNorm(x)
	copy(s.last, final[len(final)-b.config.hidden:])
	s.length, s.answerable = before+len(ids), true
	result, err := b.answer(e, final, rowOf, s.length)
	b.clockStop(p, len(e.Rows), false)
	return result, err
}

// checkEncode refuses what cannot be encoded.
func (b *Backend) checkEncode(e *model.Encode) error {
	s, ok := e.Sequence.(*sequence)
	if !ok || s.backend != b {
		return errForeign
	}
	if s.released {
		return errReleased
	}
	for _, segment := range e.Segments {
		if err := b.checkIDs(segment.IDs); err != nil {
			return err
		}
	}
	tokens := e.Tokens()
	if n := s.length + tokens; n > b.config.maxPositions {
		return fmt.Errorf("%d committed + %d new tokens = %d; the model's limit is %d", s.length, tokens, n, b.config.maxPositions)
	}
	for _, row := range e.Rows {
		switch {
		case row.Index == model.LastCommitted && (tokens > 0 || s.answerable):
		case row.Index == model.LastCommitted:
			return errors.New("the sequence has no committed row to ask")
		case row.Index < 0 || row.Index >= tokens:
			return fmt.Errorf("row %d of an encode of %d tokens", row.Index, tokens)
		}
		if err := b.checkSampling(&row.Sampling); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) checkIDs(ids []int32) error {
	for i, id := range ids {
		if id < 0 || int(id) >= b.config.vocab {
			return fmt.Errorf("token %d is id %d, beyond the table of %d ids", i, id, b.config.vocab)
		}
	}
	return nil
}

// neededRows lists the rows that must pass the last layer: those asked for, and
// the last one, which stays answerable; all of them for a probe. rowOf maps each
// request to its place.
func neededRows(need []int, rows []model.Row, n int, all bool) ([]int, []int) {
	rowOf := make([]int, len(rows))
	wanted := make([]bool, n)
	for i := range wanted {
		wanted[i] = all || i == n-1
	}
	for _, row := range rows {
		if row.Index != model.LastCommitted {
			wanted[row.Index] = true
		}
	}
	place := make([]int, n)
	for i, w := range wanted {
		if w {
			place[i] = len(need)
			need = append(need, i)
		}
	}
	for i, row := range rows {
		rowOf[i] = len(need) - 1
		if row.Index != model.LastCommitted {
			rowOf[i] = place[row.Index]
		}
	}
	return need, rowOf
}

// answer computes the logits of the rows asked for. final holds the final-norm
// outputs; rowOf says which one each request wants, nil the only one.
func (b *Backend) answer(e *model.Encode, final []float32, rowOf []int, length int) (model.Result, error) {
	if len(e.Rows) == 0 {
		return model.Result{}, nil
	}
	n := b.config.hidden
	x := floats(&b.forward.scratch.dense, len(e.Rows)*n)
	want := make([]kernel.HeadRow, len(e.Rows))
	for i := range e.Rows {
		at := 0
		if rowOf != nil {
			at = rowOf[i]
		}
		copy(x[i*n:(i+1)*n], final[at*n:(at+1)*n])
		want[i] = encodeRow(&e.Rows[i].Sampling)
	}
	if b.rowLogits == nil {
		b.rowLogits = kernel.NewLogits(b.vocabulary, 0, b.round)
	}
	result := model.Result{Stats: make([]canvas.Stats, len(e.Rows))}
	b.rowLogits.Reset(len(e.Rows))
	b.forward.clock.enter(model.PartHead)
	b.team.Head(b.rowLogits, result.Stats, x, b.weights.head, want, &b.headScratch)
	b.forward.clock.leaveHead()
	for i := range result.Stats {
		if result.Stats[i].NonFinite && result.NonFinite == nil {
			at := length - 1
			if index := e.Rows[i].Index; index != model.LastCommitted {
				at = length - e.Tokens() + index
			}
			result.NonFinite = &model.NonFinite{Layer: model.InLogits, Position: at}
		}
	}
	return result, nil
}

// encodeRow turns a sampling request into what the head computes: temperature 0
// is the argmax at temperature 1.
func encodeRow(s *canvas.Sampling) kernel.HeadRow {
	row := kernel.HeadRow{
		Temperature: s.Temperature, Adjust: s.Adjust, Allowed: s.Allowed, Draw: s.Draw,
		Candidates: canvas.Candidates{Temperature: 1, Filter: s.Filter},
		Score:      s.Score, Top: s.Top,
	}
	if s.Temperature == 0 {
		row.Temperature, row.Candidates = 1, canvas.Candidates{}
	}
	return row
}
