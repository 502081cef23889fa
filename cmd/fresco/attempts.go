package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/frescolm/fresco"
)

// maxAttempts is how often an answer is drawn until its check passes: once, and
// three redraws.
const maxAttempts = 4

// running is one "fresco run" at work.
type running struct {
	c       *console
	ctx     context.Context
	model   *fresco.Model
	options fresco.Options
	printer printer
	// warning is about the prompt, "" for nothing.
	warning string
}

// outcome is what the attempts came to.
type outcome struct {
	fresco.Result
	// Attempts counts the answers drawn; the result is the last of them.
	attempts int
	// checked is true when the answer was checked by rules, problem what is
	// wrong with it, "" for nothing.
	checked bool
	problem string
	// warning is about the prompt.
	warning string
	// canvases are those of all attempts, usage and timing their sums.
	canvases []attemptCanvas
}

// attemptCanvas is a canvas and the answer attempt, from 0, that it is part of.
type attemptCanvas struct {
	fresco.CanvasReport
	attempt int
}

func (r *running) mode() fresco.Mode {
	switch {
	case r.options.Mode != "":
		return r.options.Mode
	case r.model.Info().CanvasLength == 0:
		return fresco.Autoregressive
	}
	return fresco.Diffusion
}

// checkable reports whether the whole answer can be checked. A request that cuts
// the answer short, or says what it begins with, is on its own.
func (r *running) checkable() bool {
	if r.options.IDs != nil || r.options.MaxTokens != 0 || len(r.options.Stop) > 0 {
		return false
	}
	_, ok := r.model.Check(r.options.Prompt, "")
	return ok
}

// assess refuses a prompt that has no right answer, and says what else a person
// should know about it.
func (r *running) assess() error {
	if r.options.IDs != nil {
		return nil
	}
	impossible, note := r.model.Assess(r.options.Prompt)
	if impossible != "" {
		return &fresco.RequestError{Field: "prompt", Reason: impossible}
	}
	if r.warning = note; note != "" {
		r.c.note("warning: %s", note)
	}
	return nil
}

// repeats reports whether another attempt would give the same answer.
func (r *running) repeats() bool {
	temperature, _ := r.options.Temperature.Float()
	return r.mode() == fresco.Autoregressive && temperature == 0
}

// attempts draws answers until one passes its check.
func (r *running) attempts() (*outcome, error) {
	checked := r.checkable()
	if err := r.printer.begin(checked); err != nil {
		return nil, err
	}
	o := &outcome{checked: checked, warning: r.warning}
	for {
		if err := r.attempt(o); err != nil {
			return nil, err
		}
		if !checked || o.Reason == fresco.FinishCancelled {
			break
		}
		o.problem, _ = r.model.Check(r.options.Prompt, o.Text)
		if o.problem == "" || o.attempts == maxAttempts || r.repeats() {
			break
		}
		// A redraw is another attempt of the same seed.
		seed := o.Seed
		r.options.Seed = &seed
		if err := r.printer.redraw(o); err != nil {
			return nil, err
		}
	}
	return o, r.printer.end(o)
}

// attempt draws one answer and adds it to the outcome.
func (r *running) attempt(o *outcome) error {
	r.options.Attempt = o.attempts
	r.options.Drafts = r.printer.drafts()
	begun := time.Now()
	for event, err := range r.model.Generate(r.ctx, r.options) {
		if err != nil {
			return err
		}
		switch e := event.(type) {
		case *fresco.Started:
			o.Seed, o.Mode = e.Seed, e.Mode
		case *fresco.Prefilled:
			if time.Since(begun) > time.Second {
				r.c.progress("prompt: %d of %d tokens", e.Done, e.Total)
			}
		case *fresco.Draft:
			r.c.settle()
			if err := r.printer.draft(e); err != nil {
				return err
			}
		case *fresco.Committed:
			r.c.settle()
			if err := r.printer.committed(e); err != nil {
				return err
			}
		case *fresco.Finished:
			o.add(e)
		}
	}
	return nil
}

func (o *outcome) add(f *fresco.Finished) {
	usage, timing, warnings := o.Usage, o.Timing, o.Warnings
	o.Finished = *f
	o.Usage.ComputedTokens += usage.ComputedTokens
	o.Usage.Forwards += usage.Forwards
	o.Timing.Prefill += timing.Prefill
	o.Timing.Decode += timing.Decode
	o.Warnings = append(warnings, f.Warnings...)
	for _, canvas := range f.Canvases {
		o.canvases = append(o.canvases, attemptCanvas{canvas, o.attempts})
	}
	o.attempts++
}

// verdict says in one line what the check found, "" when there was none.
func (o *outcome) verdict() string {
	switch {
	case !o.checked || o.Reason == fresco.FinishCancelled:
		return ""
	case o.problem == "" && o.attempts == 1:
		return "solved"
	case o.problem == "":
		return fmt.Sprintf("solved at attempt %d", o.attempts)
	case o.attempts == 1:
		return "not solved: " + o.problem
	}
	return fmt.Sprintf("not solved in %d attempts: %s", o.attempts, o.problem)
}

// conclude turns the outcome into the end of the program.
func (o *outcome) conclude(c *console) error {
	switch {
	case o.Reason == fresco.FinishCancelled:
		return errInterrupted
	case o.Reason == fresco.FinishGuard:
		return fmt.Errorf("the answer was rejected by a guard: %s", o.Guard)
	case o.checked && o.problem != "" && c.quiet: // in which case nothing was said
		return errors.New(o.verdict())
	case o.checked && o.problem != "":
		return errSaid
	}
	return nil
}
