package fresco

import (
	"fmt"
	"math"
	"strings"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/constraint"
	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/rng"
	"github.com/frescolm/fresco/tokenizer"
)

// defaultGuardEntropy is the mean entropy in nats above which a canvas at its
// step cap counts as undecided. A canvas that says something has hundredths.
const defaultGuardEntropy = 1

// resolve makes a request without defaults of options: what the options leave
// open is taken from the checkpoint. Ranges are the engine's to check.
func (m *Model) resolve(o Options) (engine.Request, error) {
	config, can := m.m.Backend.Config(), m.m.Backend.Capabilities()
	r := engine.Request{
		Mode: o.Mode, MaxTokens: o.MaxTokens, Attempt: o.Attempt,
		Canvas: o.Canvas, Stop: o.Stop,
		End: config.Tokens.End, Pad: config.Tokens.Pad,
		PrefillChunk: o.PrefillChunk, Drafts: o.Drafts,
	}
	if r.Mode == "" {
		r.Mode = Autoregressive
		if can.Denoise {
			r.Mode = Diffusion
		}
	}
	if o.Seed != nil {
		r.Seed = *o.Seed
	} else {
		r.Seed = rng.FreshSeed()
	}
	if r.Canvas == 0 {
		r.Canvas = config.CanvasLength
	}
	var err error
	if r.Prompt, err = m.prompt(o); err != nil {
		return r, err
	}
	if r.Cells, err = m.cells(o, r.Mode); err != nil {
		return r, err
	}
	if r.Sampler, err = sampler(o, config.Generation); err != nil {
		return r, err
	}
	if err := draws(&r, o); err != nil {
		return r, err
	}
	r.CapLowered = o.Steps != 0 && o.Steps < config.Generation.MaxDenoisingSteps
	r.Guards, err = guards(o)
	return r, err
}

// prompt returns the token ids that are encoded first.
func (m *Model) prompt(o Options) ([]int32, error) {
	switch {
	case o.IDs != nil && o.Prompt != "":
		return nil, refuse("ids", "they take the place of the prompt; give one of the two")
	case o.IDs != nil:
		return o.IDs, nil
	case o.Prompt == "" && !o.Raw:
		return nil, refuse("prompt", "it is empty")
	case m.m.Tokenizer == nil:
		return nil, refuse("prompt", "the checkpoint has no tokenizer.json; a request to it gives token ids (--ids)")
	case o.Raw:
		return chat.Encode(m.m.Tokenizer, chat.Raw{}.Prompt(o.Prompt)), nil
	}
	return chat.Encode(m.m.Tokenizer, m.m.Form.Prompt(o.Prompt)), nil
}

// cells returns what an infill text says about the first canvas.
func (m *Model) cells(o Options, mode Mode) ([]canvas.Cell, error) {
	switch {
	case o.Infill == "":
		return nil, nil
	case mode != Diffusion:
		return nil, refuse("infill", "only diffusion can fill holes, the mode is "+string(mode))
	case m.m.Tokenizer == nil:
		return nil, refuse("infill", "the checkpoint has no tokenizer")
	}
	parts, err := constraint.ParseInfill(o.Infill)
	if err != nil {
		return nil, refuse("infill", strings.TrimPrefix(err.Error(), "infill: "))
	}
	return constraint.Cells(parts, func(text string) []int32 {
		return m.m.Tokenizer.Encode(text, tokenizer.EncodeOptions{})
	}), nil
}

// sampler returns the settings of diffusion mode.
func sampler(o Options, g model.Generation) (diffusion.Settings, error) {
	s := diffusion.Settings{
		Steps: g.MaxDenoisingSteps, MaxSteps: o.MaxSteps,
		TMin: g.TMin, TMax: g.TMax,
		EntropyBound: g.EntropyBound, Stability: g.StabilityThreshold, Confidence: g.ConfidenceThreshold,
	}
	if o.Steps != 0 {
		s.Steps = o.Steps
	}
	s.TemperatureOff = o.TMin.IsOff() || o.TMax.IsOff()
	for _, bound := range []struct {
		field   string
		setting Setting
		dst     *float64
	}{{"t_min", o.TMin, &s.TMin}, {"t_max", o.TMax, &s.TMax}} {
		v, ok := bound.setting.Float()
		if !ok {
			continue
		}
		if _, err := narrow(bound.field, v); err != nil {
			return s, err
		}
		*bound.dst = v
	}
	if o.EntropyBound.IsOff() {
		return s, refuse("entropy_bound", "cannot be switched off; a large bound accepts everything")
	}
	var err error
	if v, ok := o.EntropyBound.Float(); ok {
		if s.EntropyBound, err = narrow("entropy_bound", v); err != nil {
			return s, err
		}
	}
	s.StabilityOff, s.ConfidenceOff = o.Stability.IsOff(), o.Confidence.IsOff()
	if v, ok := o.Stability.Float(); ok {
		if v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			return s, refuse("stability", fmt.Sprintf("%v is not a number of steps", v))
		}
		s.Stability = int(v)
	}
	if v, ok := o.Confidence.Float(); ok {
		s.Confidence, err = narrow("confidence", v)
	}
	return s, err
}

// narrow makes a float32 of a value that must not become 0 or infinite by it,
// which would mean something else. Its range is the engine's to check.
func narrow(field string, v float64) (float32, error) {
	switch {
	case v != 0 && float32(v) == 0:
		return 0, refuse(field, fmt.Sprintf("%v is too small to tell from 0", v))
	case math.IsInf(float64(float32(v)), 0):
		return 0, refuse(field, fmt.Sprintf("%v is too large", v))
	}
	return float32(v), nil
}

// draws fills in how tokens are drawn in either mode.
func draws(r *engine.Request, o Options) error {
	if o.Temperature.IsOff() {
		return refuse("temperature", "cannot be switched off; 0 takes the most likely token, 1 leaves the logits as they are")
	}
	temperature, given := o.Temperature.Float()
	if r.Mode == Autoregressive {
		if err := refuseDiffusion(o); err != nil {
			return err
		}
		var err error
		if r.Temperature, err = narrow("temperature", temperature); err != nil {
			return err
		}
		topP, err := narrow("top_p", o.TopP)
		r.Filter = canvas.Filter{TopK: o.TopK, TopP: topP}
		return err
	}
	r.Candidates = canvas.Candidates{Temperature: 1}
	switch {
	case given && temperature != 0:
		return refuse("temperature", "in diffusion mode it can only be 0 (argmax candidates); t_min and t_max set the temperature schedule")
	case given:
		r.Candidates.Temperature = 0
	case o.TopK != 0:
		return refuse("top_k", "it filters autoregressive draws; the mode is diffusion")
	case o.TopP != 0:
		return refuse("top_p", "it filters autoregressive draws; the mode is diffusion")
	}
	return nil
}

// guards returns the checks of the answer.
func guards(o Options) (engine.Guards, error) {
	v, given := o.GuardEntropy.Float()
	switch {
	case given && !(v > 0 && v <= math.MaxFloat32):
		return engine.Guards{}, refuse("guard_entropy", fmt.Sprintf("%v is not a number of nats above 0", v))
	case given && o.NoGuards:
		return engine.Guards{}, refuse("guard_entropy", "the guards are switched off by no_guards")
	case o.NoGuards:
		return engine.Guards{}, nil
	case given:
		entropy, err := narrow("guard_entropy", v)
		return engine.Guards{On: true, Entropy: entropy}, err
	case o.GuardEntropy.IsOff():
		return engine.Guards{On: true}, nil
	}
	return engine.Guards{On: true, Entropy: defaultGuardEntropy}, nil
}

// refuseDiffusion refuses what only a canvas can be asked for.
func refuseDiffusion(o Options) error {
	for _, option := range []struct {
		field string
		given bool
	}{
		{"canvas", o.Canvas != 0}, {"steps", o.Steps != 0}, {"max_steps", o.MaxSteps != 0},
		{"t_min", o.TMin.IsSet()}, {"t_max", o.TMax.IsSet()}, {"entropy_bound", o.EntropyBound.IsSet()},
		{"stability", o.Stability.IsSet()}, {"confidence", o.Confidence.IsSet()},
		{"guard_entropy", o.GuardEntropy.IsSet()},
	} {
		if option.given {
			return refuse(option.field, "it steers diffusion; the mode is ar")
		}
	}
	return nil
}

func refuse(field, reason string) error {
	return &engine.RequestError{Field: field, Reason: reason}
}
