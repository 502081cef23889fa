package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/constraint"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/weights"
)

// maxInput is the largest prompt or infill text that is read, in bytes: far more
// than any context holds.
const maxInput = 64 << 20

const standardInput = "-"

// options turns the flags into a request and reads the texts that they name. It
// settles which of the arguments is the model.
func (r *runCommand) options(ctx context.Context, c *console) (fresco.Options, error) {
	o := fresco.Options{
		IDs: r.IDs, Raw: r.Raw, Mode: fresco.Mode(r.Mode), Seed: r.Seed.value,
		MaxTokens: r.MaxTokens.n, Stop: r.Stop, Canvas: r.Canvas.n,
		Steps: r.Steps.n, MaxSteps: r.MaxSteps.n, TMin: r.TMin, TMax: r.TMax,
		EntropyBound: r.EntropyBound, Stability: r.Stability, Confidence: r.Confidence,
		Temperature: r.Temperature, TopK: r.TopK.n, PrefillChunk: r.PrefillChunk.n,
		NoGuards: r.NoGuards, GuardEntropy: r.GuardEntropy,
	}
	o.TopP, _ = r.TopP.Float()
	// "fresco run -" has a prompt and no model.
	if r.Model != nil && *r.Model == standardInput && r.Prompt == nil {
		r.Model, r.Prompt = nil, r.Model
	}
	if err := r.conflicts(); err != nil {
		return o, err
	}
	if r.Model == nil {
		name := models.Default
		r.Model = &name
	}
	var err error
	if o.Infill, err = r.infill(ctx, c); err != nil {
		return o, err
	}
	o.Prompt, err = r.prompt(ctx, c, o.Infill)
	return o, err
}

// conflicts refuses flags that ask for two things at once.
func (r *runCommand) conflicts() error {
	switch {
	case r.IDs != nil && r.Prompt != nil:
		return usage("--ids takes the place of PROMPT; give one of the two")
	case r.Infill != "" && r.Mode == choice(fresco.Autoregressive):
		return usage("--infill needs diffusion mode; --mode ar cannot fill holes")
	case r.Infill == standardInput && r.Prompt != nil && *r.Prompt == standardInput:
		return usage("PROMPT and --infill cannot both be read from standard input")
	case r.NoGuards && r.GuardEntropy.IsSet() && !r.GuardEntropy.IsOff():
		return usage("--guard-entropy sets a guard that --no-guards switches off; give one of the two")
	case r.MaxSteps.set && r.Steps.set && r.MaxSteps.n > r.Steps.n:
		return usage("--max-steps %d is above --steps %d; it can only stop earlier", r.MaxSteps.n, r.Steps.n)
	}
	return nil
}

// prompt returns the text to answer, "" when there are ids instead.
func (r *runCommand) prompt(ctx context.Context, c *console, infill string) (string, error) {
	switch {
	case r.IDs != nil:
		return "", nil
	case r.Prompt == nil:
		return r.impliedPrompt(infill)
	case *r.Prompt == standardInput:
		if c.typed {
			c.note("The prompt is read from the terminal; Ctrl-D on a line of its own ends it.")
		}
		text, err := readAll(ctx, c.in, "standard input")
		if err == nil && text == "" && !r.Raw {
			err = usage("PROMPT: standard input is empty")
		}
		return text, err
	case *r.Prompt == "" && !r.Raw:
		return "", usage("PROMPT is empty")
	}
	return *r.Prompt, nil
}

// impliedPrompt is that of a request without one: for an embedded model the
// puzzle whose givens are the infill text, with dots for holes, or its example
// when there is no such text. That it is a puzzle is to be seen.
func (r *runCommand) impliedPrompt(infill string) (string, error) {
	text, ok := example(*r.Model)
	switch {
	case !ok:
		return "", r.promptMissing()
	case infill == "":
		return text, nil
	}
	parts, err := constraint.ParseInfill(infill)
	if err != nil {
		return "", &fresco.RequestError{Field: "infill", Reason: strings.TrimPrefix(err.Error(), "infill: ")}
	}
	var puzzle strings.Builder
	for _, part := range parts {
		puzzle.WriteString(part.Text + strings.Repeat(".", part.Free))
	}
	r.implied = true
	return puzzle.String(), nil
}

// promptMissing says what is wrong with a request that names a model alone. What
// was meant as a prompt may stand in the model's place.
func (r *runCommand) promptMissing() error {
	seen, err := models.Inspect(*r.Model)
	var (
		unknown  *models.UnknownError
		rejected *weights.RejectedError
	)
	switch {
	case err != nil && !errors.As(err, &rejected) && strings.ContainsFunc(*r.Model, unicode.IsSpace):
		return usage("there is no model %s; the model comes first: fresco run %s PROMPT", shortened(*r.Model), models.Default)
	case errors.As(err, &unknown) && len(unknown.Near) == 0 && *r.Model != "":
		return usage("%v; before a PROMPT the model comes first: fresco run %s PROMPT", err, models.Default)
	case err != nil:
		return err
	case seen.Problem != nil:
		return seen.Problem
	}
	return usage("%s needs a PROMPT (\"-\" reads standard input) or --ids", *r.Model)
}

// shortened quotes a text and cuts it where it is long.
func shortened(text string) string {
	const limit = 40
	if runes := []rune(text); len(runes) > limit {
		return strconv.Quote(string(runes[:limit])) + "…"
	}
	return strconv.Quote(text)
}

func (r *runCommand) infill(ctx context.Context, c *console) (string, error) {
	var (
		text string
		err  error
	)
	switch r.Infill {
	case "":
		return "", nil
	case standardInput:
		text, err = readAll(ctx, c.in, "standard input")
	default:
		text, err = readFile(ctx, r.Infill)
	}
	// The line end that every editor leaves at the end of a file is no token
	// that the canvas must have.
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	switch {
	case err != nil:
		return "", fmt.Errorf("--infill: %w", err)
	case text == "":
		return "", usage("--infill: the text is empty")
	case !utf8.ValidString(text):
		return "", usage("--infill: the text is not UTF-8")
	}
	return text, nil
}

func readFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readAll(ctx, f, path)
}

// readAll reads a text to its end, or until the context ends.
func readAll(ctx context.Context, in io.Reader, name string) (string, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-done:
		switch {
		case r.err != nil:
			return "", fmt.Errorf("%s: %w", name, plainCause(r.err))
		case len(r.data) > maxInput:
			return "", usage("%s: more than %d bytes", name, maxInput)
		}
		return string(r.data), nil
	}
}
