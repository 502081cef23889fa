package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/model"
)

// A refined canvas is one that was denoised, or given up.
type refined struct {
	index  int
	redraw bool
	// ids is the argmax canvas of the last step.
	ids     []int32
	stop    diffusion.Stop
	steps   int
	entropy float32 // mean of the last step
	// accepted counts the positions accepted in the last step.
	accepted int
	// broken says where NaN or infinity ended the denoising; ids is then
	// meaningless.
	broken string
}

// diffuse draws canvas after canvas until the answer ends.
func (r *run) diffuse(ctx context.Context) (FinishReason, error) {
	sampler, err := r.sampler()
	if err != nil {
		return "", err
	}
	ending := diffusion.Ending{
		IDs: r.request.End, Pad: r.request.Pad, HasPad: r.request.Pad >= 0, MaxLength: r.config.MaxPositions,
	}
	var c refined
	for index := 0; ; index++ {
		saw, err := r.drawCanvas(ctx, sampler, index, &c)
		if err != nil {
			return "", err
		}
		if saw != "" {
			r.finished.Guard = fmt.Sprintf("canvas %d: %s", index+1, saw)
			return FinishGuard, nil
		}
		kept, ended := r.beforeEnd(c.ids)
		finished := ending.Finalize(c.ids, r.sequence.Len()+len(c.ids), false)
		from := len(r.answer.ids)
		r.answer.pushAll(kept)
		all := len(r.answer.ids) == from+len(kept)
		over := finished || r.answer.full() || r.answer.decided()
		if over {
			r.answer.end()
		}
		if err := r.emitCommitted(); err != nil {
			return "", err
		}
		switch {
		case r.answer.decided() || ended && all:
			return FinishStop, nil
		case over:
			return FinishLength, nil
		}
		if err := r.commit(ctx, c.ids, &r.finished.Timing.Decode); err != nil {
			return "", inPart(fmt.Sprintf("commit of canvas %d", index+1), err)
		}
	}
}

func (r *run) sampler() (*diffusion.Sampler, error) {
	draws := r.request.Draws
	if draws == nil {
		philox, err := diffusion.NewPhilox(r.config.Noise)
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		draws = philox
	}
	sampler, err := diffusion.New(r.request.Sampler, r.address(), draws)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	return sampler, nil
}

// beforeEnd returns the tokens of a canvas before its first end token, and
// whether it has one.
func (r *run) beforeEnd(ids []int32) (kept []int32, ended bool) {
	i := slices.IndexFunc(ids, func(id int32) bool { return slices.Contains(r.request.End, id) })
	if i < 0 {
		return ids, false
	}
	return ids[:i], true
}

// drawCanvas denoises a canvas, and once more with other draws when a guard
// rejects it. saw is what a guard saw the second time, "" when the canvas is
// good; the tokens of a rejected canvas that are text are part of the answer.
func (r *run) drawCanvas(ctx context.Context, sampler *diffusion.Sampler, index int, c *refined) (saw string, err error) {
	for _, redraw := range []bool{false, true} {
		c.index, c.redraw = index, redraw
		err := r.refine(ctx, sampler, c)
		if err != nil {
			r.record(c, "", err)
			return "", inPart(fmt.Sprintf("canvas %d, step %d", index+1, sampler.Steps()+1), err)
		}
		saw = r.judge(c)
		r.record(c, saw, nil)
		if saw == "" {
			return "", nil
		}
		if redraw || c.stop == diffusion.AllPinned {
			break
		}
		r.finished.Warnings = append(r.finished.Warnings, fmt.Sprintf("canvas %d: %s; it was drawn again", index+1, saw))
	}
	if r.keeps(c) {
		kept, _ := r.beforeEnd(c.ids)
		r.answer.pushAll(kept)
		r.drawn[len(r.drawn)-1].to = len(r.answer.ids)
	}
	return saw, nil
}

// record reports a canvas. How many of its tokens are kept is known at the end.
func (r *run) record(c *refined, saw string, err error) {
	d := drawnCanvas{from: len(r.answer.ids), to: len(r.answer.ids), report: CanvasReport{
		Index: c.index, Length: len(c.ids), Steps: c.steps, Accepted: c.accepted, Entropy: c.entropy, Guard: saw, Redraw: c.redraw,
	}}
	switch {
	case err != nil:
		d.report.Stop = StopCancelled
	case saw != "":
		d.report.Stop = StopGuard
	case c.stop == diffusion.Converged:
		d.report.Stop = StopConverged
	case c.stop == diffusion.CapReached:
		d.report.Stop = StopCap
	default:
		d.report.Stop = StopPinned
	}
	if err == nil && c.broken == "" {
		kept, ended := r.beforeEnd(c.ids)
		d.report.End = ended
		if saw == "" {
			d.to += len(kept)
		}
	}
	r.drawn = append(r.drawn, d)
	r.finished.Usage.ComputedTokens += len(c.ids)
}

// refine denoises one canvas until the sampler stops, or until NaN or infinity
// appears while the guards are on.
func (r *run) refine(ctx context.Context, sampler *diffusion.Sampler, c *refined) error {
	length := r.canvasLength(r.request, r.sequence.Len())
	begin := diffusion.Canvas{Index: c.index, Length: length, Redraw: c.redraw}
	if c.index == 0 {
		begin.Cells = r.request.Cells
	}
	// Nothing of the canvas before may count as part of this one.
	c.ids, c.steps, c.entropy, c.accepted, c.broken = c.ids[:0], 0, 0, 0, ""
	start, err := sampler.Begin(begin)
	if err != nil {
		return err
	}
	c.ids = append(c.ids, start...)
	c.stop = sampler.Stopped()
	if c.stop != diffusion.NotStopped {
		return nil
	}
	if err := r.freshCanvas(length); err != nil {
		return err
	}
	r.drafts.begin(c, begin.Cells, r.request.Sampler.Cap())
	for c.stop == diffusion.NotStopped {
		pass, err := sampler.Step()
		if err != nil {
			return err
		}
		result, err := r.denoise(ctx, pass)
		if err != nil {
			return err
		}
		if saw := r.nonFinite(result, r.sequence.Len()); saw != "" {
			if !r.request.Guards.On {
				return errors.New(saw)
			}
			c.broken = saw
			return nil
		}
		decision, err := sampler.Observe(result.Stats)
		if err != nil {
			return err
		}
		c.stop, c.steps = decision.Stop, decision.Index+1
		c.entropy, c.accepted = decision.MeanEntropy, decision.AcceptedCount
		if r.request.Drafts {
			if err := r.emit(r.drafts.of(decision, result.Stats)); err != nil {
				return err
			}
		}
	}
	copy(c.ids, sampler.Best())
	return nil
}

// freshCanvas makes the canvas state, or makes it new.
func (r *run) freshCanvas(length int) error {
	if r.canvas != nil {
		return r.canvas.Reset(length)
	}
	c, err := r.sequence.NewCanvas(length)
	if err != nil {
		return err
	}
	r.canvas = c
	return nil
}

// denoise runs a pass of the sampler on the backend.
func (r *run) denoise(ctx context.Context, pass diffusion.Pass) (model.Result, error) {
	r.denoising = model.Denoise{
		Canvas: r.canvas, Sequence: r.sequence, IDs: pass.IDs, Temperature: pass.Temperature,
		Candidates: r.request.Candidates, Draw: pass.Draw,
	}
	result, err := r.step(ctx, model.Item{Denoise: &r.denoising}, &r.finished.Timing.Decode)
	if err == nil {
		r.finished.Usage.Forwards++
	}
	return result, err
}
