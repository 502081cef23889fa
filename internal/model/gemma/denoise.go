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
// whole canvas. Nothing is written to the sequence. The canvas keeps the new logits
// beside those of the step before until take, unless this is the last item of its
// step, after which nothing can fail.
func (b *Backend) denoise(ctx context.Context, d *model.Denoise, last bool) (model.Result, error) {
	c, s := d.Canvas.(*canvasState), d.Sequence.(*sequence)
	b.forward.clock.start(len(b.config.layers))
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
	logits := c.fresh(last)
	b.forward.clock.enter(model.PartHead)
	b.team.Head(logits, result.Stats, final, b.weights.head, want, &b.headScratch)
	b.forward.clock.leaveHead()
	for i := range result.Stats {
		if result.Stats[i].NonFinite {
			result.NonFinite = &model.NonFinite{Layer: model.InLogits, Position: prefix + i}
			break
		}
	}
	b.clockStop(p, length, previous != nil)
	return result, nil
}

// checkDenoise refuses what cannot be denoised.
func (b *Backend) checkDenoise(d *model.Denoise) error {
	c, ok := d.Canvas.(*canvasState)
	if !ok || c.backend != b {
		return errForeign
	}
	s, ok := d.Sequence.(*sequence)
	if !ok || s.backend != b {
		return errForeign
	}
	switch {
	case c.released:
		return errCanvasReleased
	case s.released:
		return errReleased
	case c.sequence != s:
		return errors.New("the canvas was made by another sequence")
	case len(d.IDs) != c.length:
		return fmt.Errorf("%d ids for a canvas of %d positions", len(d.IDs), c.length)
	case s.length+c.length > b.config.maxPositions:
		return fmt.Errorf("%d committed tokens + a canvas of %d = %d; the model's limit is %d", s.length, c.length, s.length+c.length, b.config.maxPositions)
	case !(d.Temperature > 0) || math.IsInf(float64(d.Temperature), 0):
		return fmt.Errorf("a step temperature of %v; want a number above 0", d.Temperature)
	case d.Adjust != nil && len(d.Adjust) != c.length:
		return fmt.Errorf("%d adjustments for a canvas of %d positions", len(d.Adjust), c.length)
	case d.Top < 0:
		return fmt.Errorf("the %d most likely ids are asked for", d.Top)
	}
	if err := b.checkIDs(d.IDs); err != nil {
		return err
	}
	for i := range d.Adjust {
		if err := b.checkAdjustment(&d.Adjust[i]); err != nil {
			return err
		}
	}
	if err := checkTemperature(d.Candidates.Temperature); err != nil {
		return err
	}
	return b.checkIDs(d.Score)
}

// checkSampling refuses a sampling request that has no meaning.
func (b *Backend) checkSampling(s *canvas.Sampling) error {
	if err := checkTemperature(s.Temperature); err != nil {
		return err
	}
	if err := b.checkAdjustment(&s.Adjust); err != nil {
		return err
	}
	if s.Top < 0 {
		return fmt.Errorf("the %d most likely ids are asked for", s.Top)
	}
	if s.Allowed != nil {
		if err := b.checkAllowed(s.Allowed); err != nil {
			return err
		}
	}
	return b.checkIDs(s.Score)
}

// checkAllowed wants ascending ids of which at least one has a token.
func (b *Backend) checkAllowed(ids []int32) error {
	if err := b.checkIDs(ids); err != nil {
		return err
	}
	drawable := false
	for i, id := range ids {
		if i > 0 && id <= ids[i-1] {
			return fmt.Errorf("allowed ids %d and %d are not ascending", ids[i-1], id)
		}
		drawable = drawable || b.vocabulary.Masked == nil || !b.vocabulary.Masked[id]
	}
	if !drawable {
		return errors.New("no allowed id has a token")
	}
	return nil
}

func checkTemperature(t float32) error {
	if !(t >= 0) || math.IsInf(float64(t), 0) {
		return fmt.Errorf("a temperature of %v; want 0 or above", t)
	}
	return nil
}

func (b *Backend) checkAdjustment(a *canvas.Adjustment) error {
	for _, x := range a.Bias {
		if x.ID < 0 || int(x.ID) >= b.config.vocab || !kernel.Finite([]float32{x.Value}) {
			return fmt.Errorf("a bias %v on id %d of %d", x.Value, x.ID, b.config.vocab)
		}
	}
	for _, x := range a.Repetition {
		if x.ID < 0 || int(x.ID) >= b.config.vocab || !(x.Value > 0) || math.IsInf(float64(x.Value), 0) {
			return fmt.Errorf("a repetition factor %v on id %d of %d", x.Value, x.ID, b.config.vocab)
		}
	}
	return nil
}
