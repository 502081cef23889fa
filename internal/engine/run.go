package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/model"
)

var (
	// errConsumerGone: whoever asks for the events has stopped to ask.
	errConsumerGone = errors.New("engine: nobody asks for more events")
	// errCancelled: the context ended between two steps or inside one.
	errCancelled = errors.New("engine: cancelled")
)

// A run is one request on its way. It lives as long as one call of Generate's
// iterator.
type run struct {
	*Engine
	request *Request
	yield   func(Event, error) bool

	sequence model.Sequence
	canvas   model.Canvas // nil until the first canvas
	answer   answer
	drawn    []drawnCanvas
	finished Finished

	// Reused by every step.
	items     [1]model.Item
	encoding  model.Encode
	segments  [1]model.Segment
	denoising model.Denoise
	committed Committed
	drafts    drafts
}

// A drawnCanvas is a canvas with the part of the answer's ids that came from
// it, before anything was cut off the answer.
type drawnCanvas struct {
	report   CanvasReport
	from, to int
}

func newRun(e *Engine, request *Request, yield func(Event, error) bool) *run {
	r := &run{
		Engine: e, request: request, yield: yield, sequence: e.backend.NewSequence(),
		answer: newAnswer(e.tokenizer, request.MaxTokens, request.Stop),
	}
	r.finished.Usage.PromptTokens = len(request.Prompt)
	return r
}

func (r *run) release() {
	if r.canvas != nil {
		r.canvas.Release()
	}
	r.sequence.Release()
}

func (r *run) emit(e Event) error {
	if !r.yield(e, nil) {
		return errConsumerGone
	}
	return nil
}

func (r *run) generate(ctx context.Context) error {
	started := &Started{PromptTokens: len(r.request.Prompt), Seed: r.request.Seed, Mode: r.request.Mode}
	if err := r.emit(started); err != nil {
		return err
	}
	reason, err := r.decode(ctx)
	if errors.Is(err, errCancelled) {
		reason, err = FinishCancelled, nil
	}
	if err != nil {
		return err
	}
	return r.finish(reason)
}

func (r *run) decode(ctx context.Context) (FinishReason, error) {
	if err := r.prefill(ctx); err != nil {
		return "", err
	}
	if r.request.Mode == Autoregressive {
		return r.autoregress(ctx)
	}
	return r.diffuse(ctx)
}

// prefill commits the prompt in chunks.
func (r *run) prefill(ctx context.Context) error {
	prompt := r.request.Prompt
	chunk := r.request.PrefillChunk
	if chunk == 0 {
		chunk = len(prompt)
	}
	for done := 0; done < len(prompt); {
		n := min(chunk, len(prompt)-done)
		if err := r.commit(ctx, prompt[done:done+n], &r.finished.Timing.Prefill); err != nil {
			return inPart("prompt", err)
		}
		done += n
		if err := r.emit(&Prefilled{Done: done, Total: len(prompt)}); err != nil {
			return err
		}
	}
	return nil
}

// commit encodes ids whose values matter: NaN and infinity are an error here,
// for the prompt and the text before it would not change by drawing again.
func (r *run) commit(ctx context.Context, ids []int32, clock *time.Duration) error {
	r.encode(ids, nil)
	result, err := r.step(ctx, model.Item{Encode: &r.encoding}, clock)
	if err == nil && result.NonFinite != nil {
		err = result.NonFinite
	}
	return err
}

// encode sets up an Encode of ids, which may be none, with rows to ask.
func (r *run) encode(ids []int32, rows []model.Row) {
	r.encoding = model.Encode{Sequence: r.sequence, Rows: rows}
	if len(ids) > 0 {
		r.segments[0].IDs = ids
		r.encoding.Segments = r.segments[:]
	}
}

// step runs one item and adds the time it took to a clock. It returns
// errCancelled when the context ended before or within it, which the backend
// notices.
func (r *run) step(ctx context.Context, item model.Item, clock *time.Duration) (model.Result, error) {
	r.items[0] = item
	start := time.Now()
	results, err := r.backend.Step(ctx, r.items[:])
	*clock += time.Since(start)
	switch {
	case err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return model.Result{}, errCancelled
	case err != nil:
		return model.Result{}, err
	case len(results) != 1:
		return model.Result{}, fmt.Errorf("%d results for one item", len(results))
	}
	return results[0], nil
}

// inPart says in which part of the work an error happened; the two that are no
// failures pass through.
func inPart(part string, err error) error {
	if errors.Is(err, errCancelled) || errors.Is(err, errConsumerGone) {
		return err
	}
	return fmt.Errorf("engine: %s: %w", part, err)
}

// address is where the answer's draws live.
func (r *run) address() diffusion.Answer {
	return diffusion.Answer{Seed: r.request.Seed, Choice: r.request.Choice, Attempt: r.request.Attempt}
}

// emitCommitted emits what has become final since the last time.
func (r *run) emitCommitted() error {
	r.committed.IDs, r.committed.Text = r.answer.take()
	return r.emit(&r.committed)
}

// finish ends the answer and reports it.
func (r *run) finish(reason FinishReason) error {
	r.answer.end()
	if r.answer.rest() {
		if err := r.emitCommitted(); err != nil {
			return err
		}
	}
	f := &r.finished
	f.IDs, f.Text = r.answer.whole()
	f.Reason = reason
	switch {
	case reason != FinishStop || !r.empty(f):
	case r.answer.decided(): // which is what the request asked for
		f.Warnings = append(f.Warnings, warnStopAtOnce)
	case r.request.Guards.On:
		f.Reason, f.Guard = FinishGuard, sawNoAnswer
	}
	for _, d := range r.drawn {
		d.report.Kept = min(max(len(f.IDs)-d.from, 0), d.to-d.from)
		f.Canvases = append(f.Canvases, d.report)
	}
	f.Usage.CompletionTokens = len(f.IDs)
	return r.emit(f)
}

func (r *run) empty(f *Finished) bool {
	if r.tokenizer == nil {
		return len(f.IDs) == 0
	}
	return f.Text == ""
}
