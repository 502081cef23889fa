package engine

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/diffusion"
)

// A RequestError says what is wrong with a request.
type RequestError struct {
	// Field names the field as a client writes it, for example "max_tokens" or
	// "stop[0]".
	Field  string
	Reason string
}

func (e *RequestError) Error() string { return e.Field + ": " + e.Reason }

func refuse(field, format string, args ...any) error {
	return &RequestError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Check returns a *RequestError that names the first thing for which the
// request cannot be run on this engine's model, nil when it can.
func (e *Engine) Check(r Request) error {
	for _, check := range []func(*Request) error{
		e.checkMode, e.checkLength, e.checkTokens, e.checkStop, e.checkAddress, e.checkDraws, e.checkRest,
	} {
		if err := check(&r); err != nil {
			return err
		}
	}
	if r.Mode == Diffusion {
		return e.checkDiffusion(&r)
	}
	return nil
}

func (e *Engine) checkMode(r *Request) error {
	switch {
	case r.Mode != Diffusion && r.Mode != Autoregressive:
		return refuse("mode", "%q is not one of %q, %q", r.Mode, Diffusion, Autoregressive)
	case r.Mode == Diffusion && !e.backend.Capabilities().Denoise:
		return refuse("mode", "this checkpoint has no decoder for %q; %q is its only mode", Diffusion, Autoregressive)
	}
	return nil
}

// checkLength refuses a prompt and an answer that do not fit, with the sum.
func (e *Engine) checkLength(r *Request) error {
	prompt, limit := len(r.Prompt), e.config.MaxPositions
	sum := func(answer int) string { return grouped(uint64(prompt) + uint64(answer)) }
	switch {
	case prompt == 0:
		return refuse("prompt", "it has no tokens")
	case r.MaxTokens < 0:
		return refuse("max_tokens", "%d is negative", r.MaxTokens)
	case r.MaxTokens > 0 && r.MaxTokens > limit-prompt:
		return refuse("max_tokens", "prompt %s + max_tokens %s = %s tokens; the model's limit is %s",
			grouped(uint64(prompt)), grouped(uint64(r.MaxTokens)), sum(r.MaxTokens), grouped(uint64(limit)))
	case prompt >= limit:
		return refuse("prompt", "prompt %s + 1 for an answer = %s tokens; the model's limit is %s",
			grouped(uint64(prompt)), sum(1), grouped(uint64(limit)))
	}
	return nil
}

func (e *Engine) checkTokens(r *Request) error {
	if err := e.checkIDs("prompt", r.Prompt); err != nil {
		return err
	}
	if err := e.checkIDs("end", r.End); err != nil {
		return err
	}
	if r.Pad < -1 || int(r.Pad) >= e.config.VocabSize {
		return refuse("pad", "id %d is neither -1 nor in 0 … %d", r.Pad, e.config.VocabSize-1)
	}
	return nil
}

func (e *Engine) checkIDs(field string, ids []int32) error {
	for i, id := range ids {
		if id < 0 || int(id) >= e.config.VocabSize {
			return refuse(field, "id %d at index %d is not in 0 … %d", id, i, e.config.VocabSize-1)
		}
	}
	return nil
}

func (e *Engine) checkStop(r *Request) error {
	if len(r.Stop) > 0 && e.tokenizer == nil {
		return refuse("stop", "the model has no tokenizer, so there is no text to stop at")
	}
	for i, text := range r.Stop {
		if text == "" {
			return refuse(fmt.Sprintf("stop[%d]", i), "it is empty")
		}
	}
	return nil
}

func (e *Engine) checkAddress(r *Request) error {
	if r.Choice < 0 || r.Choice > math.MaxUint16 {
		return refuse("choice", "%d is not in 0 … %d", r.Choice, math.MaxUint16)
	}
	if r.Attempt < 0 || r.Attempt > math.MaxInt8 {
		return refuse("attempt", "%d is not in 0 … %d", r.Attempt, math.MaxInt8)
	}
	return nil
}

// checkDraws checks the temperature and the filter of the mode in use.
func (e *Engine) checkDraws(r *Request) error {
	temperature, filter := r.Temperature, r.Filter
	if r.Mode == Diffusion {
		temperature, filter = r.Candidates.Temperature, r.Candidates.Filter
	}
	if !(temperature >= 0) || math.IsInf(float64(temperature), 0) {
		return refuse("temperature", "%v is not a finite number ≥ 0", temperature)
	}
	return checkFilter(filter)
}

func checkFilter(f canvas.Filter) error {
	switch {
	case f.TopK < 0:
		return refuse("top_k", "%d is negative", f.TopK)
	case !(f.TopP >= 0 && f.TopP <= 1):
		return refuse("top_p", "%v is not in 0 … 1", f.TopP)
	case !(f.MinP >= 0 && f.MinP <= 1):
		return refuse("min_p", "%v is not in 0 … 1", f.MinP)
	}
	return nil
}

func (e *Engine) checkRest(r *Request) error {
	switch {
	case r.PrefillChunk < 0:
		return refuse("prefill_chunk", "%d is negative", r.PrefillChunk)
	case !(r.Guards.Entropy >= 0):
		return refuse("guard_entropy", "%v is not a number of nats ≥ 0", r.Guards.Entropy)
	case r.Mode == Autoregressive && len(r.Cells) > 0:
		return refuse("infill", "the mode %q has no canvas to place tokens in", Autoregressive)
	}
	return nil
}

// settingNames gives the fields of diffusion.Settings as clients write them.
var settingNames = map[string]string{
	"Steps": "steps", "MaxSteps": "max_steps", "TMin": "t_min", "TMax": "t_max",
	"EntropyBound": "entropy_bound", "Stability": "stability", "Confidence": "confidence",
}

func (e *Engine) checkDiffusion(r *Request) error {
	if err := r.Sampler.Validate(); err != nil {
		var setting *diffusion.SettingsError
		if errors.As(err, &setting) {
			return refuse(settingNames[setting.Field], "%s", setting.Problem)
		}
		return refuse("sampler", "%v", err)
	}
	if r.Canvas < 1 || r.Canvas > e.config.CanvasLength {
		return refuse("canvas", "length %d is not in 1 … %d", r.Canvas, e.config.CanvasLength)
	}
	if length := e.canvasLength(r, len(r.Prompt)); len(r.Cells) > length {
		return refuse("infill", "%d positions for a canvas of %d", len(r.Cells), length)
	}
	for i, cell := range r.Cells {
		switch {
		case cell.Kind != canvas.Free && cell.Kind != canvas.Pinned:
			return refuse("infill", "position %d has the unknown kind %d", i, cell.Kind)
		case cell.Kind == canvas.Pinned && (cell.ID < 0 || int(cell.ID) >= e.config.VocabSize):
			return refuse("infill", "id %d at position %d is not in 0 … %d", cell.ID, i, e.config.VocabSize-1)
		}
	}
	return nil
}

// grouped writes a number with a comma every three digits.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
