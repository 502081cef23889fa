package fresco

import (
	"context"
	"iter"
)

// Generate answers a request and yields its events in order; see the package
// comment. The last pair is a *Finished, or an error: a *RequestError before any
// work when an option cannot be honoured, or what kept the work from going on.
//
// When ctx ends, generation stops before the next denoising step and Finished
// says FinishCancelled and keeps the committed text. Leaving the loop early
// stops it too.
func (m *Model) Generate(ctx context.Context, o Options) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		request, err := m.resolve(o)
		if err != nil {
			yield(nil, err)
			return
		}
		m.m.Engine.Generate(ctx, request)(yield)
	}
}

// A Result is a whole answer.
type Result struct {
	Finished
	// Seed and Mode are those that were used.
	Seed uint64
	Mode Mode
}

// Answer runs Generate to its end. A cancelled request is a Result with the text
// so far and the error of ctx; a guard's rejection is a Result whose Reason is
// FinishGuard.
func (m *Model) Answer(ctx context.Context, o Options) (*Result, error) {
	var r Result
	for event, err := range m.Generate(ctx, o) {
		if err != nil {
			return nil, err
		}
		switch e := event.(type) {
		case *Started:
			r.Seed, r.Mode = e.Seed, e.Mode
		case *Finished:
			r.Finished = *e
		}
	}
	if r.Reason == FinishCancelled {
		return &r, context.Cause(ctx)
	}
	return &r, nil
}

// Validate says what is wrong with a request, before any work; nil when Generate
// would begin.
func (m *Model) Validate(o Options) error {
	request, err := m.resolve(o)
	if err != nil {
		return err
	}
	return m.m.Engine.Check(request)
}
