package badinput

import (
	"strings"
	"testing"
)

// config.json.
func TestConfigs(t *testing.T) {
	text := func(key string, value any) []edit { return []edit{set(configFile, "text_config."+key, value)} }
	runDamaged(t, []damaged{
		{name: "missing", edits: []edit{absent(configFile)}, want: want{code: 3, stderr: "no config.json in MODEL"}},
		{name: "empty", edits: []edit{whole(configFile, "")}, want: want{code: 3, stderr: "MODEL: config.json: the file is empty"}},
		{name: "no JSON", edits: []edit{whole(configFile, "model_type: diffusion_gemma\n")}, want: want{code: 3, stderr: "MODEL: config.json: byte 0: invalid character 'm' looking for beginning of value"}},
		{name: "truncated", edits: []edit{cut(configFile, 700)}, want: want{code: 3, stderr: "MODEL: config.json: byte 700: the JSON ends early"}},
		{name: "a list", edits: []edit{whole(configFile, `["diffusion_gemma"]`)}, want: want{code: 3, stderr: "MODEL: config.json: want an object, found a list"}},
		{name: "null", edits: []edit{whole(configFile, `null`)}, want: want{code: 3, stderr: "MODEL: config.json: model_type is missing"}},
		{name: "text after it", edits: []edit{func(_ testing.TB, f folder) { f[configFile] = append(f[configFile], "{}"...) }}, want: want{code: 3, stderr: "MODEL: config.json: byte 2515: invalid character '{' after top-level value"}},
		{name: "byte order mark", edits: []edit{func(_ testing.TB, f folder) { f[configFile] = append([]byte("\xef\xbb\xbf"), f[configFile]...) }}, want: want{code: 3, stderr: "MODEL: config.json: byte 0: a byte order mark, which JSON does not have"}},
		{name: "nested without end", edits: []edit{whole(configFile, `{"a":`+strings.Repeat("[", 100_000))}, want: want{code: 3, stderr: "MODEL: config.json: byte 10004: invalid character '[' exceeded max depth"}},
		{name: "model_type missing", edits: []edit{set(configFile, "model_type", removed{})}, want: want{code: 3, stderr: "MODEL: config.json: model_type is missing"}},
		{name: "model_type of another architecture", edits: []edit{set(configFile, "model_type", "llama")}, want: want{code: 3, stderr: "MODEL: config.json: model_type \"llama\" is not supported (supported: diffusion_gemma)"}},
		{name: "model_type is a number", edits: []edit{set(configFile, "model_type", 5)}, want: want{code: 3, stderr: "MODEL: config.json: model_type: want a text, found a number"}},
		{name: "text_config missing", edits: []edit{set(configFile, "text_config", removed{})}, want: want{code: 3, stderr: "MODEL: config.json: text_config is missing"}},
		{name: "text_config null", edits: []edit{set(configFile, "text_config", nil)}, want: want{code: 3, stderr: "MODEL: config.json: text_config is missing"}},
		{name: "text_config is a list", edits: []edit{set(configFile, "text_config", []int{})}, want: want{code: 3, stderr: "MODEL: config.json: text_config: want an object, found a list"}},

		{name: "hidden_size missing", edits: text("hidden_size", removed{}), want: want{code: 3, stderr: "MODEL: config.json: text_config.hidden_size is missing"}},
		{name: "hidden_size null", edits: text("hidden_size", nil), want: want{code: 3, stderr: "MODEL: config.json: text_config.hidden_size is missing"}},
		{name: "hidden_size negative", edits: text("hidden_size", -128), want: want{code: 3, stderr: "MODEL: config.json: text_config.hidden_size is -128, want 1 to 67108864"}},
		{name: "hidden_size a text", edits: text("hidden_size", "128"), want: want{code: 3, stderr: "MODEL: config.json: text_config.hidden_size: want a whole number, found a text"}},
		{name: "hidden_size with a fraction", edits: text("hidden_size", 128.5), want: want{code: 3, stderr: "MODEL: config.json: text_config.hidden_size: want a whole number, found 128.5"}},
		{name: "hidden_size of the weights' double", edits: text("hidden_size", 256), want: want{code: 3, like: `fresco: MODEL: 94 tensors are unusable:\n  model\.decoder\.embed_tokens\.weight in model\.safetensors: shape \[384 128\], expected \[384 256\]\n(  .*\n){9}  and 84 more`}},
		{name: "vocab_size zero", edits: text("vocab_size", 0), want: want{code: 3, stderr: "MODEL: config.json: text_config.vocab_size is 0, want 1 to 67108864"}},
		{name: "vocab_size huge", edits: text("vocab_size", 1<<40), want: want{code: 3, stderr: "MODEL: config.json: text_config.vocab_size is 1099511627776, want 1 to 67108864"}},
		{name: "num_experts beyond 64 bits", edits: []edit{replaced(configFile, `"num_experts": 4`, `"num_experts": 99999999999999999999`)}, want: want{code: 3, stderr: "MODEL: config.json: text_config.num_experts: 99999999999999999999 is out of range"}},
		{name: "all dimensions at their limit", edits: []edit{
			set(configFile, "text_config.hidden_size", 1<<26), set(configFile, "text_config.vocab_size", 1<<26),
			set(configFile, "text_config.num_experts", 1<<26), set(configFile, "text_config.moe_intermediate_size", 1<<26),
			set(configFile, "text_config.intermediate_size", 1<<26),
		}, want: want{code: 3, stderr: "MODEL: config.json: a model of 4.53e+24 parameters; the dimensions cannot be meant"}},
		{name: "top_k_experts above the experts", edits: text("top_k_experts", 5), want: want{code: 3, stderr: "MODEL: config.json: text_config.top_k_experts is 5, with 4 experts"}},
		{name: "sliding_window zero", edits: text("sliding_window", 0), want: want{code: 3, stderr: "MODEL: config.json: text_config.sliding_window is 0, want 1 to 67108864"}},
		{name: "num_hidden_layers beyond layer_types", edits: text("num_hidden_layers", 6), want: want{code: 3, stderr: "MODEL: config.json: text_config.layer_types has 5 entries for 6 layers"}},
		{name: "num_hidden_layers huge", edits: text("num_hidden_layers", 1<<26), want: want{code: 3, stderr: "MODEL: config.json: text_config.num_hidden_layers is 67108864, want 1 to 1024"}},
		{name: "layer_types too short", edits: text("layer_types", []string{"full_attention"}), want: want{code: 3, stderr: "MODEL: config.json: text_config.layer_types has 1 entries for 5 layers"}},
		{name: "layer_types with an unknown type", edits: text("layer_types.1", "linear_attention"), want: want{code: 3, stderr: "MODEL: config.json: text_config.layer_types[1] \"linear_attention\" is not supported"}},
		{name: "layer_types of numbers", edits: text("layer_types", []int{1, 2, 3, 4, 5}), want: want{code: 3, stderr: "MODEL: config.json: text_config.layer_types: want a text, found a number"}},
		{name: "layer_types that end in a sliding layer", edits: text("layer_types.4", "sliding_attention"), want: want{answer: true, notes: setAside}},
		{name: "head_dim odd", edits: text("head_dim", 31), want: want{code: 3, stderr: "MODEL: config.json: layer 0: a head dimension of 31; want an even number"}},
		{name: "KV heads that do not divide the heads", edits: text("num_key_value_heads", 3), want: want{code: 3, stderr: "MODEL: config.json: layer 0: 4 query heads cannot share 3 KV heads"}},
		{name: "per_layer_config beyond the layers", edits: text("per_layer_config.5", map[string]int{"head_dim": 64}), want: want{code: 3, stderr: "MODEL: config.json: text_config.per_layer_config has no layer \"5\" to name: layers are 0 to 4"}},
		{name: "per_layer_config with a name for a layer", edits: text("per_layer_config.last", map[string]int{"head_dim": 64}), want: want{code: 3, stderr: "MODEL: config.json: text_config.per_layer_config has no layer \"last\" to name: layers are 0 to 4"}},
		{name: "per_layer_config with an unknown field", edits: text("per_layer_config.2.window", 3), want: want{code: 3, stderr: "MODEL: config.json: text_config.per_layer_config.2: key \"window\" is not known"}},
		{name: "per_layer_config with zero KV heads", edits: text("per_layer_config.2.num_key_value_heads", 0), want: want{code: 3, stderr: "MODEL: config.json: layer 2: 4 query heads cannot share 0 KV heads"}},
		{name: "rope_type unknown", edits: text("rope_parameters.full_attention.rope_type", "yarn"), want: want{code: 3, stderr: "MODEL: config.json: text_config.rope_parameters.full_attention: rope_type \"yarn\" is not supported"}},
		{name: "rope_parameters of an unknown kind", edits: text("rope_parameters.linear_attention", map[string]any{}), want: want{code: 3, stderr: "MODEL: config.json: text_config.rope_parameters.linear_attention is no kind of layer"}},
		{name: "rope_theta negative", edits: text("rope_parameters.sliding_attention.rope_theta", -1), want: want{code: 3, stderr: "MODEL: config.json: text_config.rope_parameters.sliding_attention: theta -1, partial 1, factor 1 are out of range"}},
		{name: "rms_norm_eps zero", edits: text("rms_norm_eps", 0), want: want{code: 3, stderr: "MODEL: config.json: text_config.rms_norm_eps is 0, want a small number above 0"}},
		{name: "rms_norm_eps of Python's NaN", edits: []edit{replaced(configFile, `"rms_norm_eps": 1e-06`, `"rms_norm_eps": NaN`)}, want: want{code: 3, stderr: "MODEL: config.json: byte 1272: invalid character 'N' looking for beginning of value"}},
		{name: "softcap negative", edits: text("final_logit_softcapping", -30), want: want{code: 3, stderr: "MODEL: config.json: text_config.final_logit_softcapping is -30, want 0 or above"}},
		{name: "activation unknown", edits: text("hidden_activation", "silu"), want: want{code: 3, stderr: "MODEL: config.json: text_config.hidden_activation \"silu\" is not supported"}},
		{name: "attention_bias", edits: text("attention_bias", true), want: want{code: 3, stderr: "MODEL: config.json: text_config.attention_bias is not supported"}},
		{name: "bidirectional everywhere", edits: text("use_bidirectional_attention", "all"), want: want{code: 3, stderr: "MODEL: config.json: text_config.use_bidirectional_attention \"all\" is not supported"}},
		{name: "canvas_length zero", edits: []edit{set(configFile, "canvas_length", 0)}, want: want{code: 3, stderr: "MODEL: config.json: canvas_length is 0, want 1 to 67108864"}},
		{name: "canvas_length beyond the context", edits: []edit{set(configFile, "canvas_length", 2048)}, want: want{answer: true, notes: setAside}},
		{name: "max_position_embeddings negative", edits: text("max_position_embeddings", -1), want: want{code: 3, stderr: "MODEL: config.json: text_config.max_position_embeddings is -1, want 1 to 67108864"}},

		{name: "eos_token_id beyond the table", edits: []edit{set(configFile, "eos_token_id", []int{1, 384})}, want: want{code: 3, stderr: "MODEL: config.json: eos_token_id is 384, beyond the table of 384 ids"}},
		{name: "mask_token_id beyond the table", edits: []edit{set(configFile, "mask_token_id", 384)}, want: want{code: 3, stderr: "MODEL: config.json: mask_token_id is 384, beyond the table of 384 ids"}},
		{name: "mask_token_id of text_config beyond the table", edits: text("mask_token_id", 384), want: want{code: 3, stderr: "MODEL: config.json: text_config.mask_token_id is 384, beyond the table of 384 ids"}},
		{name: "pad_token_id negative", edits: []edit{set(configFile, "pad_token_id", -1)}, want: want{code: 3, stderr: "MODEL: config.json: pad_token_id is -1, beyond the table of 384 ids"}},
		{name: "eos_token_id with null", edits: []edit{set(configFile, "eos_token_id", []any{nil})}, want: want{code: 3, stderr: "MODEL: config.json: eos_token_id: want a whole number, found null"}},
		{name: "eos_token_id a text", edits: []edit{set(configFile, "eos_token_id", "<eos>")}, want: want{code: 3, stderr: "MODEL: config.json: eos_token_id: want a whole number, found a text"}},
		{name: "eos_token_id with a text", edits: []edit{set(configFile, "eos_token_id", []any{1, "<eos>"})}, want: want{code: 3, stderr: "MODEL: config.json: eos_token_id: want a whole number, found a text"}},
		{name: "bos_token_id a text", edits: []edit{set(configFile, "bos_token_id", "<bos>")}, want: want{code: 3, stderr: "MODEL: config.json: bos_token_id: want a whole number, found a text"}},
	})
}

// generation_config.json.
func TestGenerationConfigs(t *testing.T) {
	gen := func(path string, value any) []edit { return []edit{set(generationFile, path, value)} }
	runDamaged(t, []damaged{
		{name: "missing", edits: []edit{absent(generationFile)}, want: want{answer: true, notes: setAside}},
		{name: "all null", edits: []edit{whole(generationFile, `{"t_min": null, "t_max": null, "max_denoising_steps": null, "sampler_config": null, "stability_threshold": null, "confidence_threshold": null, "eos_token_id": null, "max_new_tokens": null}`)}, want: want{answer: true, notes: setAside}},
		{name: "keys without meaning", edits: gen("repetition_penalty", 1.2), want: want{answer: true, notes: after("note: generation_config.json: repetition_penalty has no meaning here and is ignored")}},
		{name: "empty", edits: []edit{whole(generationFile, "")}, want: want{code: 3, stderr: "MODEL: generation_config.json: the file is empty"}},
		{name: "no JSON", edits: []edit{whole(generationFile, "t_min=0.4")}, want: want{code: 3, stderr: "MODEL: generation_config.json: byte 1: invalid character '_' in literal true (expecting 'r')"}},
		{name: "a list", edits: []edit{whole(generationFile, "[]")}, want: want{code: 3, stderr: "MODEL: generation_config.json: want an object, found a list"}},
		{name: "t_min a text", edits: gen("t_min", "NaN"), want: want{code: 3, stderr: "MODEL: generation_config.json: t_min: want a number, found a text"}},
		{name: "t_min Python's NaN", edits: []edit{replaced(generationFile, `"t_min": 0.4`, `"t_min": NaN`)}, want: want{code: 3, stderr: "MODEL: generation_config.json: byte 356: invalid character 'N' looking for beginning of value"}},
		{name: "t_max Python's Infinity", edits: []edit{replaced(generationFile, `"t_max": 0.8`, `"t_max": Infinity`)}, want: want{code: 3, stderr: "MODEL: generation_config.json: byte 340: invalid character 'I' looking for beginning of value"}},
		{name: "t_max beyond all numbers", edits: []edit{replaced(generationFile, `"t_max": 0.8`, `"t_max": 1e999`)}, want: want{code: 3, stderr: "MODEL: generation_config.json: t_max: 1e999 is out of range"}},
		{name: "t_max equal to t_min", edits: gen("t_max", 0.4), want: want{code: 3, stderr: "MODEL: generation_config.json: t_max is 0.4, want above t_min, which is 0.4, and below 1000000"}},
		{name: "t_max below t_min", edits: gen("t_max", 0.3), want: want{code: 3, stderr: "MODEL: generation_config.json: t_max is 0.3, want above t_min, which is 0.4, and below 1000000"}},
		{name: "t_min negative", edits: gen("t_min", -0.1), want: want{code: 3, stderr: "MODEL: generation_config.json: t_min is -0.1, want 0 or above, below 1000000"}},
		{name: "entropy_bound zero", edits: gen("sampler_config.entropy_bound", 0), want: want{code: 3, stderr: "MODEL: generation_config.json: sampler_config.entropy_bound is 0, want above 0, at most 1000000"}},
		{name: "entropy_bound huge", edits: gen("sampler_config.entropy_bound", 1e30), want: want{code: 3, stderr: "MODEL: generation_config.json: sampler_config.entropy_bound is 1e+30, want above 0, at most 1000000"}},
		{name: "entropy_bound negative", edits: gen("sampler_config.entropy_bound", -0.1), want: want{code: 3, stderr: "MODEL: generation_config.json: sampler_config.entropy_bound is -0.1, want above 0, at most 1000000"}},
		{name: "another sampler", edits: gen("sampler_config._cls_name", "TopKSamplerConfig"), want: want{code: 3, stderr: "MODEL: generation_config.json: sampler_config: \"TopKSamplerConfig\" is not supported"}},
		{name: "max_denoising_steps zero", edits: gen("max_denoising_steps", 0), want: want{code: 3, stderr: "MODEL: generation_config.json: max_denoising_steps is 0, want 1 to 65535"}},
		{name: "max_denoising_steps huge", edits: gen("max_denoising_steps", 1<<40), want: want{code: 3, stderr: "MODEL: generation_config.json: max_denoising_steps is 1099511627776, want 1 to 65535"}},
		{name: "max_denoising_steps with a fraction", edits: gen("max_denoising_steps", 4.5), want: want{code: 3, stderr: "MODEL: generation_config.json: max_denoising_steps: want a whole number, found 4.5"}},
		{name: "stability_threshold negative", edits: gen("stability_threshold", -1), want: want{code: 3, stderr: "MODEL: generation_config.json: stability_threshold is -1, want 0 to 65535"}},
		{name: "confidence_threshold zero", edits: gen("confidence_threshold", 0), want: want{code: 3, stderr: "MODEL: generation_config.json: confidence_threshold is 0, want above 0, at most 1000000"}},
		{name: "max_new_tokens negative", edits: gen("max_new_tokens", -5), want: want{code: 3, stderr: "MODEL: generation_config.json: max_new_tokens is -5, want 1 or more"}},
		{name: "eos_token_id beyond the table", edits: gen("eos_token_id", []int{1, 6, 400}), want: want{code: 3, stderr: "MODEL: generation_config.json: eos_token_id is 400, beyond the table of 384 ids"}},
		{name: "eos_token_id with null", edits: gen("eos_token_id", []any{1, nil}), want: want{code: 3, stderr: "MODEL: generation_config.json: eos_token_id: want a whole number, found null"}},
		{name: "eos_token_id an empty list", edits: gen("eos_token_id", []int{}), want: want{answer: true, notes: setAside}},
	})
}

// The files that say how the checkpoint wants to be asked.
func TestPromptForms(t *testing.T) {
	runDamaged(t, []damaged{
		{name: "prompt.json is no JSON", edits: []edit{whole("prompt.json", "{")}, want: want{code: 3, stderr: "MODEL: chat: prompt.json: byte 1: the JSON ends early"}},
		{name: "prompt.json with an unknown form", edits: []edit{set("prompt.json", "form", "poem")}, want: want{code: 3, stderr: "MODEL: chat: prompt.json: form \"poem\" is not known (known: task)"}},
		{name: "prompt.json with a broken pattern", edits: []edit{set("prompt.json", "pattern", "(")}, want: want{code: 3, stderr: "MODEL: chat: prompt.json: pattern: error parsing regexp: missing closing ): `(`"}},
		{name: "prompt.json with an unknown kind", edits: []edit{set("prompt.json", "kind", "chess")}, want: want{code: 3, stderr: "MODEL: chat: prompt.json: kind \"chess\" is not known (known: sudoku)"}},
		{name: "tokenizer_config.json is no JSON", edits: []edit{absent("prompt.json"), whole("tokenizer_config.json", "{")}, want: want{code: 3, stderr: "MODEL: chat: tokenizer_config.json: byte 1: the JSON ends early"}},
		{name: "chat_template is a number", edits: []edit{absent("prompt.json"), whole("tokenizer_config.json", `{"chat_template": 5}`)}, want: want{code: 3, stderr: "MODEL: chat: tokenizer_config.json: chat_template is neither a text nor a list of named templates"}},
	})
}
