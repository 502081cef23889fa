package gemma

import (
	"fmt"

	"github.com/frescolm/fresco/internal/weights"
)

// The two prefixes under which the shared backbone may be stored; the first is
// the official one (model.md §2). The encoder's layer scalars have only the
// second.
const (
	decoderPrefix = "model.decoder."
	encoderPrefix = "model.encoder.language_model."
)

// headName is the official name of a head that is not tied to the table.
const headName = "lm_head.weight"

// aside lists the tensors that are known and not used.
func (c *config) aside() []weights.Group {
	if c.gguf {
		return ggufAside
	}
	return []weights.Group{
		{Name: "vision tower", Prefix: []string{"model.encoder.vision_tower."}},
		{Name: "vision projector", Prefix: []string{"model.encoder.embed_vision."}},
	}
}

// slots lists the tensors that a checkpoint of this shape must have (model.md
// §2), in the order of the forward pass. Whatever the file's format, they are
// bound by their official names.
func (c *config) slots() []weights.Slot {
	var list []weights.Slot
	add := func(s weights.Slot) {
		if c.gguf {
			s.Aliases = []string{ggufName(s.Name)}
			s.Hint = s.Aliases[0] + " in a GGUF file"
		}
		list = append(list, s)
	}
	shared := func(name string, shape ...int) {
		add(weights.Slot{Name: decoderPrefix + name, Aliases: []string{encoderPrefix + name}, Shape: shape})
	}
	own := func(name, hint string, shape ...int) {
		add(weights.Slot{Name: name, Shape: shape, Hint: hint})
	}
	shared("embed_tokens.weight", c.vocab, c.hidden)
	const self = "self_conditioning."
	own(decoderPrefix+self+"pre_norm.weight", "", c.hidden)
	own(decoderPrefix+self+"gate_proj.weight", "", c.intermediate, c.hidden)
	own(decoderPrefix+self+"up_proj.weight", "", c.intermediate, c.hidden)
	own(decoderPrefix+self+"down_proj.weight", "", c.hidden, c.intermediate)
	for i, l := range c.layers {
		layer := func(name string, shape ...int) { shared(fmt.Sprintf("layers.%d.%s", i, name), shape...) }
		layer("input_layernorm.weight", c.hidden)
		layer("self_attn.q_proj.weight", l.heads*l.headDim, c.hidden)
		layer("self_attn.k_proj.weight", l.kvHeads*l.headDim, c.hidden)
		if l.v() {
			layer("self_attn.v_proj.weight", l.kvHeads*l.headDim, c.hidden)
		}
		layer("self_attn.o_proj.weight", c.hidden, l.heads*l.headDim)
		layer("self_attn.q_norm.weight", l.headDim)
		layer("self_attn.k_norm.weight", l.headDim)
		layer("post_attention_layernorm.weight", c.hidden)
		layer("pre_feedforward_layernorm.weight", c.hidden)
		layer("mlp.gate_proj.weight", c.intermediate, c.hidden)
		layer("mlp.up_proj.weight", c.intermediate, c.hidden)
		layer("mlp.down_proj.weight", c.hidden, c.intermediate)
		layer("post_feedforward_layernorm_1.weight", c.hidden)
		layer("router.scale", c.hidden)
		layer("router.proj.weight", c.experts, c.hidden)
		layer("router.per_expert_scale", c.experts)
		layer("pre_feedforward_layernorm_2.weight", c.hidden)
		if l.splitExperts {
			layer("experts.gate_proj", c.experts, c.expert, c.hidden)
			layer("experts.up_proj", c.experts, c.expert, c.hidden)
		} else {
			layer("experts.gate_up_proj", c.experts, 2*c.expert, c.hidden)
		}
		layer("experts.down_proj", c.experts, c.hidden, c.expert)
		layer("post_feedforward_layernorm_2.weight", c.hidden)
		layer("post_feedforward_layernorm.weight", c.hidden)
		const hint = "encoder and decoder have a layer scalar each, and both must be there"
		scalar := fmt.Sprintf("layers.%d.layer_scalar", i)
		own(decoderPrefix+scalar, hint, 1)
		own(encoderPrefix+scalar, hint, 1)
	}
	shared("norm.weight", c.hidden)
	if !c.tied {
		own(headName, "tie_word_embeddings is false in config.json, so the head needs a tensor of its own", c.vocab, c.hidden)
	}
	if c.gguf {
		half := c.layers[len(c.layers)-1].headDim / 2 // of the full layers, of which the last is one
		list = append(list, weights.Slot{Name: ropeFreqs, Shape: []int{half}, Hint: "it says which pairs of a full layer's heads rotate"})
	}
	return list
}

// parameters counts the parameters of the text model, and those that one token
// passes through without embedding and head (model.md §1.5).
func (c *config) parameters() (all, active int64) {
	for _, s := range c.slots() {
		if s.Name == ropeFreqs {
			continue // no parameter: it repeats what the architecture says
		}
		n := int64(1)
		for _, d := range s.Shape {
			n *= int64(d)
		}
		all += n
	}
	perExpert := int64(3) * int64(c.expert) * int64(c.hidden)
	idle := int64(len(c.layers)) * int64(c.experts-c.chosen) * perExpert
	table := int64(c.vocab) * int64(c.hidden)
	if !c.tied {
		table *= 2
	}
	return all, all - idle - table
}
