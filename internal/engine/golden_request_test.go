package engine_test

import (
	"encoding/json"
	"slices"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/engine"
)

// request turns the arguments of generate() into a request, and says how many
// canvases were recorded for this row.
func (r *traceReplay) request() (engine.Request, int) {
	t, c, config := r.t, r.c, r.backend.Config()
	g := config.Generation
	settings := diffusion.Settings{
		Steps: g.MaxDenoisingSteps, TMin: g.TMin, TMax: g.TMax, EntropyBound: g.EntropyBound,
		Stability: g.StabilityThreshold, Confidence: g.ConfidenceThreshold,
	}
	ids := c.Inputs.IDs[r.row]
	for name, value := range c.Inputs.Arguments {
		null := string(value) == "null"
		read := func(v any) {
			if err := json.Unmarshal(value, v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		switch name {
		case "max_denoising_steps":
			read(&settings.Steps)
		case "max_new_tokens", "max_length", "decoder_input_ids":
		case "attention_mask":
			var mask [][]int
			read(&mask)
			ids = ids[slices.Index(mask[r.row], 1):]
		case "stability_threshold":
			if settings.StabilityOff = null; !null {
				read(&settings.Stability)
			}
		case "confidence_threshold":
			if settings.ConfidenceOff = null; !null {
				read(&settings.Confidence)
			}
		case "t_min", "t_max":
			if settings.TemperatureOff = null; !null {
				t.Fatalf("%s given: not known to the test", name)
			}
		case "sampler_config":
			var s struct {
				Bound float32 `json:"entropy_bound"`
			}
			read(&s)
			settings.EntropyBound = s.Bound
		default:
			t.Fatalf("argument %s is not known to the test", name)
		}
	}
	prompt := ids
	if c.Inputs.Cached != nil {
		prompt = slices.Concat(c.Inputs.Cached[r.row], ids)
	}
	canvases := 0
	for r.has(canvases, "final") {
		canvases++
	}
	return engine.Request{
		Prompt: prompt, Mode: engine.Diffusion, Sampler: settings, Canvas: config.CanvasLength,
		Candidates: canvas.Candidates{Temperature: 1}, End: config.Tokens.End, Pad: config.Tokens.Pad,
		Drafts: true, Draws: &recordedDraws{r: r},
	}, canvases
}
