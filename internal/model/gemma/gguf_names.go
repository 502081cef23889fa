package gemma

import (
	"fmt"
	"strings"

	"github.com/frescolm/fresco/internal/weights"
)

// ropeFreqs is the tensor in which a GGUF file says which pairs of a full layer's
// heads rotate. It has no counterpart in the folder layout.
const ropeFreqs = "rope_freqs.weight"

// ggufAside lists the tensors of a GGUF file that are known and not used.
var ggufAside = []weights.Group{
	{Name: "vision tower", Prefix: []string{"v."}},
	{Name: "vision projector", Prefix: []string{"mm."}},
	{Name: "audio tower", Prefix: []string{"a."}},
}

// ggufNames gives the names of tensors in a GGUF file by what follows the prefix
// of the official name (model.md §9).
var ggufNames = map[string]string{
	"embed_tokens.weight":                "token_embd.weight",
	"norm.weight":                        "output_norm.weight",
	"self_conditioning.pre_norm.weight":  "self_cond_pre_norm.weight",
	"self_conditioning.gate_proj.weight": "self_cond_gate.weight",
	"self_conditioning.up_proj.weight":   "self_cond_up.weight",
	"self_conditioning.down_proj.weight": "self_cond_down.weight",
}

// ggufLayerNames does so for what follows the number of the layer.
var ggufLayerNames = map[string]string{
	"input_layernorm.weight":              "attn_norm.weight",
	"self_attn.q_proj.weight":             "attn_q.weight",
	"self_attn.k_proj.weight":             "attn_k.weight",
	"self_attn.v_proj.weight":             "attn_v.weight",
	"self_attn.o_proj.weight":             "attn_output.weight",
	"self_attn.q_norm.weight":             "attn_q_norm.weight",
	"self_attn.k_norm.weight":             "attn_k_norm.weight",
	"post_attention_layernorm.weight":     "post_attention_norm.weight",
	"pre_feedforward_layernorm.weight":    "ffn_norm.weight",
	"mlp.gate_proj.weight":                "ffn_gate.weight",
	"mlp.up_proj.weight":                  "ffn_up.weight",
	"mlp.down_proj.weight":                "ffn_down.weight",
	"post_feedforward_layernorm_1.weight": "post_ffw_norm_1.weight",
	"router.scale":                        "ffn_gate_inp.scale",
	"router.proj.weight":                  "ffn_gate_inp.weight",
	"router.per_expert_scale":             "ffn_down_exps.scale",
	"pre_feedforward_layernorm_2.weight":  "pre_ffw_norm_2.weight",
	"experts.gate_up_proj":                "ffn_gate_up_exps.weight",
	"experts.gate_proj":                   "ffn_gate_exps.weight",
	"experts.up_proj":                     "ffn_up_exps.weight",
	"experts.down_proj":                   "ffn_down_exps.weight",
	"post_feedforward_layernorm_2.weight": "post_ffw_norm_2.weight",
	"post_feedforward_layernorm.weight":   "post_ffw_norm.weight",
	"layer_scalar":                        "layer_output_scale.weight",
}

// ggufName is the name of a slot's tensor in a GGUF file.
func ggufName(official string) string {
	name, encoder := strings.CutPrefix(official, encoderPrefix)
	name = strings.TrimPrefix(name, decoderPrefix)
	if name == headName {
		return "output.weight"
	}
	rest, inLayer := strings.CutPrefix(name, "layers.")
	if !inLayer {
		return ggufNames[name]
	}
	number, part, _ := strings.Cut(rest, ".")
	if encoder && part == "layer_scalar" {
		return fmt.Sprintf("blk.%s.enc_layer_output_scale.weight", number)
	}
	return fmt.Sprintf("blk.%s.%s", number, ggufLayerNames[part])
}
