package gemma

import (
	"fmt"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/weights"
)

// modelWeights holds the tensors as the layers use them: matrices as stored,
// vectors as float32. Encoder and decoder share everything but the layer
// scalars and self-conditioning (model.md §2.3).
type modelWeights struct {
	embed  kernel.Matrix // [vocab, hidden]; also the head when tied
	head   kernel.Matrix // [vocab, hidden]
	norm   []float32     // [hidden]
	self   selfWeights
	layers []layerWeights
	// encoderScalar and decoderScalar hold one layer scalar per layer.
	encoderScalar, decoderScalar []float32
}

type selfWeights struct {
	preNorm        []float32     // [hidden]
	gate, up, down kernel.Matrix // [intermediate, hidden] ×2, [hidden, intermediate]
}

type layerWeights struct {
	inputNorm, postAttentionNorm []float32     // [hidden]
	q, k, o                      kernel.Matrix // [heads·dim, hidden], [kv·dim, hidden], [hidden, heads·dim]
	v                            kernel.Matrix // [kv·dim, hidden]; sliding layers only
	qNorm, kNorm                 []float32     // [dim]
	preDenseNorm, postDenseNorm  []float32     // [hidden]
	gate, up, down               kernel.Matrix // the dense branch
	preExpertNorm                []float32     // [hidden]
	postExpertNorm               []float32     // [hidden]
	routerScale                  []float32     // [hidden]
	router                       kernel.Matrix // [experts, hidden]
	perExpert                    []float32     // [experts]
	expertGateUp                 kernel.Matrix // [experts·2·width, hidden]: gate rows, then up rows of each
	expertGate, expertUp         kernel.Matrix // [experts·width, hidden] ×2, in place of expertGateUp where they are split
	expertDown                   kernel.Matrix // [experts·hidden, width]
	postNorm                     []float32     // [hidden]
}

// binder takes tensors out of a binding and keeps the first error.
type binder struct {
	binding *weights.Binding
	round   kernel.Rounding
	err     error
}

func (b *binder) tensor(name string) quant.Tensor { return b.binding.Tensor(name) }

func (b *binder) matrix(name string) kernel.Matrix {
	m, err := kernel.NewMatrix(b.tensor(name))
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("tensor %s: %w", name, err)
	}
	return m
}

// vector decodes a tensor to float32; in bf16 arithmetic it is rounded, as
// loading a checkpoint in that type does.
func (b *binder) vector(name string) []float32 {
	v := b.stored(name)
	if b.round == kernel.BF16 {
		dtype.RoundBF16Slice(v)
	}
	return v
}

// stored decodes a tensor to float32.
func (b *binder) stored(name string) []float32 {
	t := b.tensor(name)
	v := make([]float32, t.Elements())
	if err := quant.Decode(t.Format, v, t.Data); err != nil {
		if b.err == nil {
			b.err = fmt.Errorf("tensor %s: %w", name, err)
		}
	}
	return v
}

// bindWeights arranges the tensors of a checkpoint that has all of c.slots().
func bindWeights(c *config, binding *weights.Binding, round kernel.Rounding) (*modelWeights, error) {
	b := &binder{binding: binding, round: round}
	w := &modelWeights{
		embed: b.matrix(decoderPrefix + "embed_tokens.weight"),
		norm:  b.vector(decoderPrefix + "norm.weight"),
		self: selfWeights{
			preNorm: b.vector(decoderPrefix + "self_conditioning.pre_norm.weight"),
			gate:    b.matrix(decoderPrefix + "self_conditioning.gate_proj.weight"),
			up:      b.matrix(decoderPrefix + "self_conditioning.up_proj.weight"),
			down:    b.matrix(decoderPrefix + "self_conditioning.down_proj.weight"),
		},
	}
	w.head = w.embed
	if !c.tied {
		w.head = b.matrix(headName)
	}
	for i, l := range c.layers {
		name := func(s string) string { return fmt.Sprintf("%slayers.%d.%s", decoderPrefix, i, s) }
		lw := layerWeights{
			inputNorm:         b.vector(name("input_layernorm.weight")),
			q:                 b.matrix(name("self_attn.q_proj.weight")),
			k:                 b.matrix(name("self_attn.k_proj.weight")),
			o:                 b.matrix(name("self_attn.o_proj.weight")),
			qNorm:             b.vector(name("self_attn.q_norm.weight")),
			kNorm:             b.vector(name("self_attn.k_norm.weight")),
			postAttentionNorm: b.vector(name("post_attention_layernorm.weight")),
			preDenseNorm:      b.vector(name("pre_feedforward_layernorm.weight")),
			gate:              b.matrix(name("mlp.gate_proj.weight")),
			up:                b.matrix(name("mlp.up_proj.weight")),
			down:              b.matrix(name("mlp.down_proj.weight")),
			postDenseNorm:     b.vector(name("post_feedforward_layernorm_1.weight")),
			routerScale:       b.vector(name("router.scale")),
			router:            b.matrix(name("router.proj.weight")),
			perExpert:         b.vector(name("router.per_expert_scale")),
			preExpertNorm:     b.vector(name("pre_feedforward_layernorm_2.weight")),
			expertDown:        b.matrix(name("experts.down_proj")),
			postExpertNorm:    b.vector(name("post_feedforward_layernorm_2.weight")),
			postNorm:          b.vector(name("post_feedforward_layernorm.weight")),
		}
		if l.v() {
			lw.v = b.matrix(name("self_attn.v_proj.weight"))
		}
		if l.splitExperts {
			lw.expertGate = b.matrix(name("experts.gate_proj"))
			lw.expertUp = b.matrix(name("experts.up_proj"))
		} else {
			lw.expertGateUp = b.matrix(name("experts.gate_up_proj"))
		}
		w.layers = append(w.layers, lw)
		scalar := fmt.Sprintf("layers.%d.layer_scalar", i)
		w.decoderScalar = append(w.decoderScalar, b.vector(decoderPrefix + scalar)[0])
		w.encoderScalar = append(w.encoderScalar, b.vector(encoderPrefix + scalar)[0])
	}
	if b.err == nil && c.gguf {
		b.err = c.checkRopeFreqs(b.stored(ropeFreqs))
	}
	return w, b.err
}
