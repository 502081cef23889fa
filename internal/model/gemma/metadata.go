package gemma

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/model"
)

// ggufArchitecture is the general.architecture of a GGUF file, and the prefix of
// its keys.
const ggufArchitecture = "diffusion-gemma"

// endTokens are the official end ids of model.md §1.4 by their spelling. A GGUF
// file has room for the first of them alone.
var endTokens = []string{"<turn|>", "<|tool_response>"}

// readMetadata reads the configuration of a GGUF file (model.md §9). Errors name
// the key.
func readMetadata(file *gguf.File) (*config, model.Generation, error) {
	c := &config{gguf: true, eps: 1e-6, softcap: 30, bos: -1, pad: -1}
	g := officialGeneration
	m := &metadata{file: file, prefix: ggufArchitecture + "."}
	if arch, err := file.Architecture(); err != nil || arch != ggufArchitecture {
		return nil, g, fmt.Errorf("key general.architecture is not %q", ggufArchitecture)
	}
	m.size(&c.hidden, "embedding_length")
	m.size(&c.intermediate, "feed_forward_length")
	m.size(&c.expert, "expert_feed_forward_length")
	m.size(&c.experts, "expert_count")
	m.size(&c.chosen, "expert_used_count")
	m.size(&c.window, "attention.sliding_window")
	m.size(&c.maxPositions, "context_length")
	m.optional("attention.layer_norm_rms_epsilon", func(key string) { c.eps = float32(m.float(key)) })
	m.optional("final_logit_softcapping", func(key string) { c.softcap = float32(m.float(key)) })
	c.vocab = m.vocabulary()
	m.layers(c)
	m.rope(c)
	m.unsupported()

	m.prefix = "diffusion."
	m.size(&c.canvas, "canvas_length")
	m.generation(&g)

	m.prefix = "tokenizer.ggml."
	m.tokens(c)
	if m.err != nil {
		return nil, g, m.err
	}
	if c.chosen > c.experts {
		return nil, g, fmt.Errorf("key %s.expert_used_count is %d, with %d experts", ggufArchitecture, c.chosen, c.experts)
	}
	if err := c.checkNumbers("key "+ggufArchitecture+".attention.layer_norm_rms_epsilon", "key "+ggufArchitecture+".final_logit_softcapping"); err != nil {
		return nil, g, err
	}
	if err := c.checkLayers(); err != nil {
		return nil, g, err
	}
	_, untied := file.Tensor(ggufName(headName))
	c.tied = !untied
	return c, g, nil
}

// metadata reads keys below a prefix and keeps the first error.
type metadata struct {
	file   *gguf.File
	prefix string
	err    error
}

// fail keeps an error about a key. Those of package gguf name file and key
// already, which the caller does too.
func (m *metadata) fail(key string, err error) {
	if m.err != nil || err == nil {
		return
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	m.err = fmt.Errorf("key %s%s: %w", m.prefix, key, err)
}

// optional calls read when the key is there.
func (m *metadata) optional(key string, read func(key string)) {
	if m.file.Has(m.prefix + key) {
		read(key)
	}
}

// whole reads an integer of any type, from least to most.
func (m *metadata) whole(key string, least, most int) int {
	n, err := m.file.Int(m.prefix + key)
	if err == nil && (n < int64(least) || n > int64(most)) {
		err = fmt.Errorf("is %d, want %d to %d", n, least, most)
	}
	m.fail(key, err)
	return int(n)
}

// size reads a required dimension.
func (m *metadata) size(dst *int, key string) { *dst = m.whole(key, 1, largest) }

// float reads a float. Most are stored as float32, in which 0.3 is another number
// than in the JSON of the folder layout: the shortest decimal that means it is
// taken, so that both layouts give the same schedule.
func (m *metadata) float(key string) float64 {
	v, err := m.file.Float(m.prefix + key)
	m.fail(key, err)
	if narrow := float32(v); float64(narrow) == v {
		return shortest(narrow)
	}
	return v
}

// shortest is the shortest decimal that means v.
func shortest(v float32) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	if err != nil {
		return float64(v)
	}
	return short
}

// perLayer reads a number for each of n layers: an array, or one number for all.
func (m *metadata) perLayer(key string, n int) []int {
	out := make([]int, n)
	all, err := m.file.Ints(m.prefix + key)
	if err != nil {
		one := m.whole(key, 1, largest)
		for i := range out {
			out[i] = one
		}
		return out
	}
	if len(all) != n {
		m.fail(key, fmt.Errorf("has %d elements for %d layers", len(all), n))
		return out
	}
	for i, v := range all {
		if v < 1 || v > largest {
			m.fail(key, fmt.Errorf("element %d is %d, want 1 to %d", i, v, largest))
			return out
		}
		out[i] = int(v)
	}
	return out
}

// vocabulary is the number of rows of the table, as the key says or, without
// one, the table itself.
func (m *metadata) vocabulary() int {
	const key = "vocab_size"
	if !m.file.Has(m.prefix + key) {
		if t, ok := m.file.Tensor(ggufNames["embed_tokens.weight"]); ok && len(t.Dims) == 2 && t.Dims[1] <= largest {
			return t.Dims[1]
		}
	}
	return m.whole(key, 1, largest)
}

// layers sets the attention shape of every layer.
func (m *metadata) layers(c *config) {
	n := m.whole("block_count", 1, 1024)
	const pattern = "attention.sliding_window_pattern"
	sliding, err := m.file.Bools(m.prefix + pattern)
	m.fail(pattern, err)
	if m.err != nil {
		return
	}
	switch {
	case len(sliding) != n:
		m.fail(pattern, fmt.Errorf("has %d elements for %d layers", len(sliding), n))
		return
	case sliding[n-1]:
		m.fail(pattern, errors.New("the last layer is a sliding one; it must be a full one"))
		return
	}
	heads, kvHeads := m.perLayer("attention.head_count", n), m.perLayer("attention.head_count_kv", n)
	full, window := m.headDim(""), m.headDim("_swa")
	for i := range n {
		l := layerConfig{kind: model.Full, heads: heads[i], kvHeads: kvHeads[i], headDim: full}
		if sliding[i] {
			l.kind, l.headDim = model.Sliding, window
		}
		_, l.splitExperts = m.file.Tensor(fmt.Sprintf("blk.%d.%s", i, ggufLayerNames["experts.gate_proj"]))
		c.layers = append(c.layers, l)
	}
}

// headDim reads the head dimension of full layers, or with the suffix "_swa" of
// sliding ones: keys, values and the rotated part must have the same.
func (m *metadata) headDim(suffix string) int {
	dim := m.whole("attention.key_length"+suffix, 1, largest)
	for _, key := range []string{"attention.value_length" + suffix, "rope.dimension_count" + suffix} {
		m.optional(key, func(key string) {
			if n := m.whole(key, 1, largest); n != dim {
				m.fail(key, fmt.Errorf("is %d, but %sattention.key_length%s is %d: different ones are not supported", n, m.prefix, suffix, dim))
			}
		})
	}
	return dim
}

// rope reads the bases of the rotary frequencies. Which pairs rotate is the
// architecture's (model.md §3.4), and checkRopeFreqs compares it with the file's.
func (m *metadata) rope(c *config) {
	c.sliding = rope{theta: 1e4, partial: 1, factor: 1}
	c.full = rope{theta: 1e6, partial: 0.25, factor: 1}
	for _, f := range []struct {
		key string
		dst *rope
	}{{"rope.freq_base", &c.full}, {"rope.freq_base_swa", &c.sliding}} {
		m.optional(f.key, func(key string) {
			f.dst.theta = m.float(key)
			if !f.dst.sound() {
				m.fail(key, fmt.Errorf("is %v, out of range", f.dst.theta))
			}
		})
	}
}

// unsupported refuses traits that this architecture does not have.
func (m *metadata) unsupported() {
	for _, key := range []string{"attention.shared_kv_layers", "embedding_length_per_layer_input"} {
		m.optional(key, func(key string) {
			if n := m.whole(key, math.MinInt, math.MaxInt); n != 0 {
				m.fail(key, fmt.Errorf("is %d, which is not supported", n))
			}
		})
	}
	m.optional("attention.causal", func(key string) {
		causal, err := m.file.Bool(m.prefix + key)
		if err == nil && causal {
			err = errors.New("is true, which is not supported: the decoder sees its whole canvas")
		}
		m.fail(key, err)
	})
	m.optional("rope.scaling.type", func(key string) {
		kind, err := m.file.String(m.prefix + key)
		if err == nil && kind != "none" {
			err = fmt.Errorf("%q is not supported", kind)
		}
		m.fail(key, err)
	})
}

// generation reads what the file says of the sampler.
func (m *metadata) generation(g *model.Generation) {
	whole := func(dst *int) func(string) {
		return func(key string) { *dst = m.whole(key, 0, math.MaxInt32) }
	}
	float := func(dst *float64) func(string) {
		return func(key string) { *dst = m.float(key) }
	}
	narrow := func(dst *float32) func(string) {
		return func(key string) { *dst = float32(m.float(key)) }
	}
	m.optional("eb_max_steps", whole(&g.MaxDenoisingSteps))
	m.optional("eb_t_min", float(&g.TMin))
	m.optional("eb_t_max", float(&g.TMax))
	m.optional("eb_entropy_bound", narrow(&g.EntropyBound))
	m.optional("eb_stability_threshold", whole(&g.StabilityThreshold))
	m.optional("eb_confidence_threshold", narrow(&g.ConfidenceThreshold))
	if err := checkGeneration(g); err != nil && m.err == nil {
		m.err = fmt.Errorf("sampler keys %seb_…: %w", m.prefix, err)
	}
}

// tokens reads the special ids.
func (m *metadata) tokens(c *config) {
	id := func(dst *int32) func(string) {
		return func(key string) { *dst = int32(m.whole(key, 0, c.vocab-1)) }
	}
	m.optional("bos_token_id", id(&c.bos))
	m.optional("padding_token_id", id(&c.pad))
	end := func(id int32) {
		if !slices.Contains(c.end, id) {
			c.end = append(c.end, id)
		}
	}
	for _, key := range []string{"eos_token_id", "eot_token_id", "eom_token_id"} {
		m.optional(key, func(key string) { end(int32(m.whole(key, 0, c.vocab-1))) })
	}
	if m.err != nil || !m.file.Has(m.prefix+"tokens") {
		return
	}
	tokens, err := m.file.Strings(m.prefix + "tokens")
	m.fail("tokens", err)
	for _, text := range endTokens {
		if i := slices.Index(tokens, text); i >= 0 && i < c.vocab {
			end(int32(i))
		}
	}
}

// checkRopeFreqs compares the divisors of the frequencies that a GGUF file has
// for the pairs of a full layer with what the architecture says: 1 for those that
// rotate, 1e30 for the rest.
func (c *config) checkRopeFreqs(divisors []float32) error {
	rotating := int(c.full.partial * float64(len(divisors)))
	for i, d := range divisors {
		want := float32(1)
		if i >= rotating {
			want = 1e30
		}
		if d != want {
			return fmt.Errorf("tensor %s: element %d is %v, want %v: of the %d pairs of a full layer's head the first %d rotate", ropeFreqs, i, d, want, len(divisors), rotating)
		}
	}
	return nil
}
