package convert

import (
	"encoding/json"
	"slices"
)

// A shape is the configuration of a synthetic checkpoint.
type shape struct {
	name                         string
	vocab, hidden, dense, expert int
	layers, experts, chosen      int
	heads, kvHeads, headDim      int
	fullKVHeads, fullHeadDim     int
	window, positions, canvas    int
}

// shapes in falling order. The first is the published checkpoint (model.md §1 and
// §2), the second its layers with a quarter of the experts, and half as many; the
// third has everything that they have and takes no time.
var shapes = []shape{
	{"26b", 262144, 2816, 2112, 704, 30, 128, 8, 16, 8, 256, 2, 512, 1024, 262144, 256},
	{"4b", 262144, 2816, 2112, 704, 15, 32, 8, 16, 8, 256, 2, 512, 1024, 262144, 256},
	{"tiny", 2048, 64, 96, 32, 7, 8, 2, 4, 2, 16, 1, 32, 32, 4096, 32},
}

// Sizes lists the sizes that Synthesize knows.
func Sizes() []string {
	var names []string
	for _, s := range shapes {
		names = append(names, s.name)
	}
	return names
}

func findShape(name string) (shape, bool) {
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.name == name })
	if i < 0 {
		return shape{}, false
	}
	return shapes[i], true
}

// modelType is that of the architecture that is synthesised.
const modelType = "diffusion_gemma"

// config is the shape's config.json. The layer pattern is the architecture's own.
func (s shape) config() ([]byte, error) {
	type object = map[string]any
	return json.MarshalIndent(object{
		"model_type": modelType, "canvas_length": s.canvas, "tie_word_embeddings": true, "eos_token_id": []int{1}, "dtype": "bfloat16",
		"text_config": object{
			"vocab_size": s.vocab, "hidden_size": s.hidden, "intermediate_size": s.dense, "moe_intermediate_size": s.expert,
			"num_hidden_layers": s.layers, "num_experts": s.experts, "top_k_experts": s.chosen,
			"num_attention_heads": s.heads, "num_key_value_heads": s.kvHeads, "head_dim": s.headDim,
			"num_global_key_value_heads": s.fullKVHeads, "global_head_dim": s.fullHeadDim,
			"sliding_window": s.window, "max_position_embeddings": s.positions, "rms_norm_eps": 1e-6, "final_logit_softcapping": 30,
			"hidden_activation": "gelu_pytorch_tanh", "bos_token_id": 2, "pad_token_id": 0,
			"rope_parameters": object{
				"sliding_attention": object{"rope_type": "default", "rope_theta": 1e4},
				"full_attention":    object{"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
			},
		},
	}, "", "  ")
}

// generation is the generation_config.json: the official values.
func generation() []byte {
	return []byte(`{
  "max_denoising_steps": 48,
  "t_min": 0.4,
  "t_max": 0.8,
  "stability_threshold": 1,
  "confidence_threshold": 0.005,
  "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 0.1},
  "bos_token_id": 2,
  "eos_token_id": [1],
  "pad_token_id": 0
}
`)
}
