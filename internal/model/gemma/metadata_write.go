package gemma

import (
	"errors"
	"fmt"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/model"
)

// metadata is what readMetadata reads, but for the tokenizer's keys. A
// configuration that these keys have no room for is an error.
func (c *config) metadata(g model.Generation) ([]gguf.KeyValue, error) {
	if err := c.expressible(); err != nil {
		return nil, fmt.Errorf("a GGUF file has no room for this configuration: %w", err)
	}
	var list []gguf.KeyValue
	add := func(key string, value any) { list = append(list, gguf.KeyValue{Key: key, Value: value}) }
	own := func(key string, value any) { add(ggufArchitecture+"."+key, value) }
	n := len(c.layers)
	sliding, heads, kvHeads := make([]bool, n), make([]int32, n), make([]int32, n)
	sameHeads := true
	for i, l := range c.layers {
		sliding[i], heads[i], kvHeads[i] = l.kind == model.Sliding, int32(l.heads), int32(l.kvHeads)
		sameHeads = sameHeads && l.heads == c.layers[0].heads
	}

	add("general.architecture", ggufArchitecture)
	own("block_count", uint32(n))
	own("context_length", uint32(c.maxPositions))
	own("embedding_length", uint32(c.hidden))
	own("feed_forward_length", uint32(c.intermediate))
	own("vocab_size", uint32(c.vocab))
	if sameHeads { // one number, as llama.cpp's converter writes it
		own("attention.head_count", uint32(heads[0]))
	} else {
		own("attention.head_count", heads)
	}
	own("attention.head_count_kv", kvHeads)
	for _, kind := range []struct {
		suffix string
		kind   model.LayerKind
		theta  float64
	}{{"", model.Full, c.full.theta}, {"_swa", model.Sliding, c.sliding.theta}} {
		dim := uint32(c.headDim(kind.kind))
		own("attention.key_length"+kind.suffix, dim)
		own("attention.value_length"+kind.suffix, dim)
		own("rope.dimension_count"+kind.suffix, dim)
		own("rope.freq_base"+kind.suffix, narrowed(kind.theta))
	}
	own("attention.sliding_window", uint32(c.window))
	own("attention.sliding_window_pattern", sliding)
	own("attention.layer_norm_rms_epsilon", c.eps)
	own("attention.causal", false)
	own("final_logit_softcapping", c.softcap)
	own("expert_count", uint32(c.experts))
	own("expert_used_count", uint32(c.chosen))
	own("expert_feed_forward_length", uint32(c.expert))

	add("diffusion.canvas_length", uint32(c.canvas))
	add("diffusion.eb_max_steps", uint32(g.MaxDenoisingSteps))
	add("diffusion.eb_t_min", narrowed(g.TMin))
	add("diffusion.eb_t_max", narrowed(g.TMax))
	add("diffusion.eb_entropy_bound", g.EntropyBound)
	add("diffusion.eb_stability_threshold", uint32(g.StabilityThreshold))
	add("diffusion.eb_confidence_threshold", g.ConfidenceThreshold)
	return list, nil
}

// narrowed is v as float32 when it is read back as v from that, else v itself.
func narrowed(v float64) any {
	if narrow := float32(v); shortest(narrow) == v {
		return narrow
	}
	return v
}

// headDim is the head dimension of the first layer of a kind; without one, that of
// the last layer, because the keys have to be there.
func (c *config) headDim(kind model.LayerKind) int {
	for _, l := range c.layers {
		if l.kind == kind {
			return l.headDim
		}
	}
	return c.layers[len(c.layers)-1].headDim
}

// expressible says which trait of a folder's configuration the keys of a GGUF file
// cannot say.
func (c *config) expressible() error {
	for i, l := range c.layers {
		if want := c.headDim(l.kind); l.headDim != want {
			return fmt.Errorf("layer %d has a head dimension of %d, and another %v layer one of %d", i, l.headDim, l.kind, want)
		}
	}
	switch {
	case c.sliding.partial != 1 || c.sliding.factor != 1:
		return errors.New("the heads of sliding layers do not rotate as a whole, or with another factor than 1")
	case c.full.partial != 0.25 || c.full.factor != 1:
		return errors.New("of the heads of full layers another part than the first quarter rotates, or with another factor than 1")
	}
	return nil
}
