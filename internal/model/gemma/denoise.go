package gemma

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// denoise runs one Denoise item (model.md §3.6): every canvas position sees the
// committed prefix — on sliding layers its last window-1 positions — and the
// whole canvas. Nothing is written to the sequence.
func (b *Backend) denoise(ctx context.Context, d *model.Denoise) (model.Result, error) {
	c, s, err := b.checkDenoise(d)
	if err != nil {
		return model.Result{}, err
	}
	prefix, length := s.length, c.length
	var canvasBlock kernel.KVBlock
	p := &pass{
		first: prefix, rows: length, scalars: b.weights.decoderScalar,
		span: func(kind model.LayerKind, _ int) kernel.Span {
			if kind == model.Full {
				return kernel.Span{Lo: 0, Hi: prefix + length}
			}
			return kernel.Span{Lo: b.config.seenFrom(prefix), Hi: prefix + length}
		},
		store: func(_ int, k, v []float32) {
			canvasBlock = kernel.KVBlock{First: prefix, Count: length, K32: k, V32: v}
		},
		blocks: func(dst []kernel.KVBlock, layer, lo, _ int) []kernel.KVBlock {
			return append(s.layers[layer].blocks(dst, lo, prefix), canvasBlock)
		},
	}
	x := floats(&b.forward.scratch.x, length*b.config.hidden)
	b.team.Embed(x, d.IDs, b.weights.embed, b.forward.embedScale, b.round)
	var previous *kernel.Logits
	if c.conditioned {
		previous = c.logits
	}
	b.forward.selfCondition(x, previous, &b.softScratch)
	x, bad, err := b.forward.run(ctx, p, x)
	if err != nil || bad != nil {
		return model.Result{NonFinite: bad}, err
	}
	final := b.forward.finalNorm(x)

	want := b.headRows[:0]
	for i := range length {
		row := kernel.HeadRow{
			Temperature: d.Temperature, Candidates: d.Candidates, Draw: d.Draw, Score: d.Score, Top: d.Top,
		}
		row.Draw.Position = uint32(i)
		if d.Adjust != nil {
			row.Adjust = d.Adjust[i]
		}
		want = append(want, row)
	}
	b.headRows = want
	result := model.Result{Stats: make([]canvas.Stats, length)}
	b.team.Head(c.logits, result.Stats, final, b.weights.head, want, &b.headScratch)
	c.conditioned = true
	for i := range result.Stats {
		if result.Stats[i].NonFinite {
			result.NonFinite = &model.NonFinite{Layer: len(b.config.layers), Position: prefix + i}
			break
		}
	}
	return result, nil
}

// checkDenoise refuses what cannot be denoised, before anything is changed.
func (b *Backend) checkDenoise(d *model.Denoise) (*canvasState, *sequence, error) {
	c, ok := d.Canvas.(*canvasState)
	if !ok || c.backend != b {
		return nil, nil, errors.New("gemma: the canvas belongs to another backend")
	}
	s, ok := d.Sequence.(*sequence)
	if !ok || s.backend != b {
		return nil, nil, errors.New("gemma: the sequence belongs to another backend")
	}
	switch {
	case c.released:
		return nil, nil, errors.New("gemma: the canvas was released")
	case s.released:
		return nil, nil, errReleased
	case c.sequence != s:
		return nil, nil, errors.New("gemma: the canvas was made by another sequence")
	case len(d.IDs) != c.length:
		return nil, nil, fmt.Errorf("gemma: %d ids for a canvas of %d positions", len(d.IDs), c.length)
	case s.length+c.length > b.config.maxPositions:
		return nil, nil, fmt.Errorf("gemma: %d committed tokens + a canvas of %d = %d; the model's limit is %d", s.length, c.length, s.length+c.length, b.config.maxPositions)
	case !(d.Temperature > 0) || math.IsInf(float64(d.Temperature), 0):
		return nil, nil, fmt.Errorf("gemma: a step temperature of %v; want a number above 0", d.Temperature)
	case d.Adjust != nil && len(d.Adjust) != c.length:
		return nil, nil, fmt.Errorf("gemma: %d adjustments for a canvas of %d positions", len(d.Adjust), c.length)
	}
	if err := b.checkIDs(d.IDs); err != nil {
		return nil, nil, err
	}
	for i := range d.Adjust {
		if err := b.checkAdjustment(&d.Adjust[i]); err != nil {
			return nil, nil, err
		}
	}
	if err := b.checkTemperature(d.Candidates.Temperature); err != nil {
		return nil, nil, err
	}
	return c, s, b.checkIDs(d.Score)
}

// checkSampling refuses a sampling request that has no meaning.
func (b *Backend) checkSampling(s *canvas.Sampling) error {
	if err := b.checkTemperature(s.Temperature); err != nil {
		return err
	}
	if err := b.checkAdjustment(&s.Adjust); err != nil {
		return err
	}
	if s.Allowed != nil && len(s.Allowed) == 0 {
		return errors.New("gemma: an empty list of allowed ids")
	}
	if err := b.checkIDs(s.Allowed); err != nil {
		return err
	}
	return b.checkIDs(s.Score)
}

func (b *Backend) checkTemperature(t float32) error {
	if !(t >= 0) || math.IsInf(float64(t), 0) {
		return fmt.Errorf("gemma: a temperature of %v; want 0 or above", t)
	}
	return nil
}

func (b *Backend) checkAdjustment(a *canvas.Adjustment) error {
	for _, x := range a.Bias {
		if x.ID < 0 || int(x.ID) >= b.config.vocab {
			return fmt.Errorf("gemma: a bias on id %d, beyond the table of %d ids", x.ID, b.config.vocab)
		}
	}
	for _, x := range a.Repetition {
		if x.ID < 0 || int(x.ID) >= b.config.vocab || !(x.Value > 0) {
			return fmt.Errorf("gemma: a repetition factor %v on id %d of %d", x.Value, x.ID, b.config.vocab)
		}
	}
	return nil
}
