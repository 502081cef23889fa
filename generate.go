package fresco

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/frescolm/fresco/internal/engine"
)

// Generate answers a request and yields its events in order; see the package
// comment. The last pair is a *Finished, or an error: a *RequestError before any
// work when an option cannot be honoured, or what kept the work from going on.
// ErrClosed and ErrBusy come before any work, too.
//
// When ctx ends, generation stops before the next denoising step and Finished
// says FinishCancelled and keeps the committed text. Leaving the loop early
// stops it too.
func (m *Model) Generate(ctx context.Context, o Options) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := m.running.begin(); err != nil {
			yield(nil, err)
			return
		}
		defer m.running.end()
		request, err := m.resolve(o)
		if err != nil {
			yield(nil, err)
			return
		}
		for event, err := range m.m.Engine.Generate(ctx, request) {
			if !yield(event, inOptions(err, o)) {
				return
			}
		}
	}
}

// A Result is a whole answer.
type Result struct {
	// Finished holds Text, IDs, Reason and all else that is known at the end.
	Finished
	// Seed and Mode are those that were used.
	Seed uint64
	Mode Mode
}

// Answer runs Generate to its end. A cancelled request is a Result with the text
// so far and context.Cause(ctx) as the error; a guard's rejection is a Result
// whose Reason is FinishGuard. An answer is not checked against the task that the
// checkpoint was trained for, and not drawn again when it is wrong: see Check.
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
	if err := m.running.open(); err != nil {
		return err
	}
	request, err := m.resolve(o)
	if err != nil {
		return err
	}
	return inOptions(m.m.Engine.Check(request), o)
}

// settingNames writes the fields of the sampler's settings, which its errors
// name, as clients do.
var settingNames = strings.NewReplacer("TMin", "t_min", "Steps", "steps")

// inOptions puts a RequestError in terms of the options.
func inOptions(err error, o Options) error {
	var refused *engine.RequestError
	if !errors.As(err, &refused) {
		return err
	}
	translated := engine.RequestError{Field: refused.Field, Reason: settingNames.Replace(refused.Reason)}
	if refused.Field == "prompt" && o.IDs != nil {
		translated.Field = "ids"
	}
	return &translated
}
