package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/tokenizer"
)

// An Engine runs requests on one backend, one at a time.
type Engine struct {
	backend   model.Backend
	config    *model.Config
	tokenizer *tokenizer.Tokenizer
}

// New returns an engine. Without a tokenizer (nil) answers are ids alone.
func New(b model.Backend, t *tokenizer.Tokenizer) *Engine {
	return &Engine{backend: b, config: b.Config(), tokenizer: t}
}

// Generate runs a request and yields its events. A request that Check refuses,
// NaN or infinity in the prompt, and a failing backend end the iteration with a
// nil event and the error. A context that ends does not: it gives a Finished
// with FinishCancelled and what was committed by then, after the step in hand
// has noticed. Whoever stops to iterate ends the request; everything that it
// held is released when Generate returns.
//
// The answer is a function of request and model: it depends on no clock, not on
// Drafts, and not on PrefillChunk.
func (e *Engine) Generate(ctx context.Context, request Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := e.Check(request); err != nil {
			yield(nil, err)
			return
		}
		r := newRun(e, &request, yield)
		defer r.release()
		if err := r.generate(ctx); err != nil && !errors.Is(err, errConsumerGone) {
			yield(nil, err)
		}
	}
}

// canvasLength is the length of a canvas after n committed tokens: that of the
// request, shortened where the context limit leaves less.
func (e *Engine) canvasLength(r *Request, n int) int {
	return min(r.Canvas, e.config.MaxPositions-n)
}
