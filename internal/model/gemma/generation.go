package gemma

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/frescolm/fresco/internal/jsonfile"
	"github.com/frescolm/fresco/internal/model"
)

// officialGeneration holds the fallbacks of model.md §1.4.
var officialGeneration = model.Generation{
	MaxNewTokens:        256,
	MaxDenoisingSteps:   48,
	TMin:                0.4,
	TMax:                0.8,
	EntropyBound:        0.1,
	StabilityThreshold:  1,
	ConfidenceThreshold: 0.005,
}

// fileGeneration is generation_config.json as far as it is read. null means the
// default, as an absent field does.
type fileGeneration struct {
	MaxNewTokens *int     `json:"max_new_tokens"`
	Steps        *int     `json:"max_denoising_steps"`
	TMin         *float64 `json:"t_min"`
	TMax         *float64 `json:"t_max"`
	Stability    *int     `json:"stability_threshold"`
	Confidence   *float32 `json:"confidence_threshold"`
	EOS          *idList  `json:"eos_token_id"`
	BOS          *int32   `json:"bos_token_id"`
	Pad          *int32   `json:"pad_token_id"`
	Sampler      *struct {
		Class *string  `json:"_cls_name"`
		Bound *float32 `json:"entropy_bound"`
	} `json:"sampler_config"`
}

// understood lists the keys that fileGeneration reads, and those of the folder
// format that say nothing about generation.
var understood = []string{
	"max_new_tokens", "max_denoising_steps", "t_min", "t_max", "stability_threshold",
	"confidence_threshold", "eos_token_id", "bos_token_id", "pad_token_id", "sampler_config",
	"transformers_version", "return_dict_in_generate", "_from_model_config",
}

// parseGeneration reads generation_config.json; nil data stands for a folder
// without one. Special ids of the file win over those of config.json.
func parseGeneration(data []byte, c *config) (model.Generation, error) {
	g := officialGeneration
	if data == nil {
		return g, nil
	}
	const name = "generation_config.json"
	var keys map[string]json.RawMessage
	if err := jsonfile.Unmarshal(data, &keys); err != nil {
		return g, fmt.Errorf("%s: %w", name, err)
	}
	var file fileGeneration
	if err := jsonfile.Unmarshal(data, &file); err != nil {
		return g, fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(understood, key) {
			g.Ignored = append(g.Ignored, key)
		}
	}
	set(&g.MaxNewTokens, file.MaxNewTokens)
	set(&g.MaxDenoisingSteps, file.Steps)
	set(&g.TMin, file.TMin)
	set(&g.TMax, file.TMax)
	set(&g.StabilityThreshold, file.Stability)
	set(&g.ConfidenceThreshold, file.Confidence)
	if s := file.Sampler; s != nil {
		if s.Class != nil && *s.Class != "EntropyBoundSamplerConfig" {
			return g, fmt.Errorf("%s: sampler_config: %q is not supported", name, *s.Class)
		}
		set(&g.EntropyBound, s.Bound)
	}
	set(&c.bos, file.BOS)
	set(&c.pad, file.Pad)
	if file.EOS != nil {
		c.end = *file.EOS
	}
	if err := checkGeneration(&g); err != nil {
		return g, fmt.Errorf("%s: %w", name, err)
	}
	return g, checkSpecialIDs(name, data, c.vocab)
}

// largestSetting bounds temperatures and entropies as the sampler does.
const largestSetting = 1e6

// checkGeneration names the first value that is out of range.
func checkGeneration(g *model.Generation) error {
	for _, f := range []struct {
		key   string
		value any
		ok    bool
		want  string
	}{
		{"max_new_tokens", g.MaxNewTokens, g.MaxNewTokens > 0, "1 or more"},
		{"max_denoising_steps", g.MaxDenoisingSteps, g.MaxDenoisingSteps > 0 && g.MaxDenoisingSteps <= math.MaxUint16, fmt.Sprintf("1 to %d", math.MaxUint16)},
		{"t_min", g.TMin, g.TMin >= 0 && g.TMin < largestSetting, "0 or above, below 1000000"},
		{"t_max", g.TMax, g.TMax > g.TMin && g.TMax < largestSetting, fmt.Sprintf("above t_min, which is %v, and below 1000000", g.TMin)},
		{"sampler_config.entropy_bound", g.EntropyBound, g.EntropyBound > 0 && g.EntropyBound <= largestSetting, "above 0, at most 1000000"},
		{"stability_threshold", g.StabilityThreshold, g.StabilityThreshold >= 0 && g.StabilityThreshold <= math.MaxUint16, fmt.Sprintf("0 to %d", math.MaxUint16)},
		{"confidence_threshold", g.ConfidenceThreshold, g.ConfidenceThreshold > 0 && g.ConfidenceThreshold <= largestSetting, "above 0, at most 1000000"},
	} {
		if !f.ok {
			return fmt.Errorf("%s is %v, want %s", f.key, f.value, f.want)
		}
	}
	return nil
}

// set stores a value that is there.
func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}
