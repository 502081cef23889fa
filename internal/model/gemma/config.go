package gemma

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/frescolm/fresco/internal/jsonfile"
	"github.com/frescolm/fresco/internal/model"
)

// ModelType is the model_type of config.json.
const ModelType = "diffusion_gemma"

// config holds the dimensions of model.md §1.
type config struct {
	vocab, hidden        int
	intermediate, expert int // widths of the dense and of one expert's FFN
	experts, chosen      int
	window, maxPositions int
	canvas               int
	eps, softcap         float32
	layers               []layerConfig
	tied                 bool
	bos, pad             int32
	end                  []int32
	sliding, full        rope
	// gguf is true for a GGUF file, whose tensors have names of their own.
	gguf bool
}

// layerConfig is the attention shape of one layer.
type layerConfig struct {
	kind                    model.LayerKind
	heads, kvHeads, headDim int
	// splitExperts is true where the experts' gates and ups are two tensors
	// instead of one.
	splitExperts bool
}

// v reports whether the layer has a value projection of its own; full layers take
// the values from the key projection (model.md §1.2).
func (l layerConfig) v() bool { return l.kind == model.Sliding }

// rope holds the rotary parameters of one kind of layer.
type rope struct {
	theta, partial, factor float64
}

// fileConfig is config.json as far as it is read. Pointers tell an absent or
// null field from a zero.
type fileConfig struct {
	ModelType    string          `json:"model_type"`
	CanvasLength *int            `json:"canvas_length"`
	Tied         *bool           `json:"tie_word_embeddings"`
	EOS          *idList         `json:"eos_token_id"`
	BOS          *int32          `json:"bos_token_id"`
	Pad          *int32          `json:"pad_token_id"`
	Text         *fileTextConfig `json:"text_config"`
}

type fileTextConfig struct {
	VocabSize      *int                       `json:"vocab_size"`
	HiddenSize     *int                       `json:"hidden_size"`
	Layers         *int                       `json:"num_hidden_layers"`
	LayerTypes     []string                   `json:"layer_types"`
	Heads          *int                       `json:"num_attention_heads"`
	KVHeads        *int                       `json:"num_key_value_heads"`
	GlobalKVHeads  *int                       `json:"num_global_key_value_heads"`
	HeadDim        *int                       `json:"head_dim"`
	GlobalHeadDim  *int                       `json:"global_head_dim"`
	PerLayer       map[string]json.RawMessage `json:"per_layer_config"`
	Window         *int                       `json:"sliding_window"`
	Intermediate   *int                       `json:"intermediate_size"`
	Experts        *int                       `json:"num_experts"`
	Chosen         *int                       `json:"top_k_experts"`
	Expert         *int                       `json:"moe_intermediate_size"`
	Activation     *string                    `json:"hidden_activation"`
	Eps            *float32                   `json:"rms_norm_eps"`
	Softcap        *float32                   `json:"final_logit_softcapping"`
	Bidirectional  json.RawMessage            `json:"use_bidirectional_attention"`
	AttentionBias  *bool                      `json:"attention_bias"`
	MaxPositions   *int                       `json:"max_position_embeddings"`
	Tied           *bool                      `json:"tie_word_embeddings"`
	EOS            *idList                    `json:"eos_token_id"`
	BOS            *int32                     `json:"bos_token_id"`
	Pad            *int32                     `json:"pad_token_id"`
	Rope           map[string]*fileRope       `json:"rope_parameters"`
	PerLayerInput  *int                       `json:"hidden_size_per_layer_input"`
	SharedKVLayers *int                       `json:"num_kv_shared_layers"`
}

type fileRope struct {
	Type    *string  `json:"rope_type"`
	Theta   *float64 `json:"rope_theta"`
	Partial *float64 `json:"partial_rotary_factor"`
	Factor  *float64 `json:"factor"`
}

type filePerLayer struct {
	HeadDim *int `json:"head_dim"`
	KVHeads *int `json:"num_key_value_heads"`
	Heads   *int `json:"num_attention_heads"`
}

// idList is a token id or a list of them.
type idList []int32

// UnmarshalJSON leaves it to encoding/json to say what is wrong, and where.
func (l *idList) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]int32)(l))
	}
	*l = make(idList, 1)
	return json.Unmarshal(data, &(*l)[0])
}

// largest bounds every dimension, so that a product of two cannot overflow;
// mostParameters bounds the model as a whole.
const (
	largest        = 1 << 26
	mostParameters = 1 << 48
)

// mostPositions is the largest context: float32 holds positions exactly up to
// 2^24, and the rotary angles are proved up to 2^20.
const mostPositions = 1 << 20

// parseConfig reads config.json, in the folded form (per_layer_config) or the
// flat one (global_head_dim, num_global_key_value_heads).
func parseConfig(data []byte) (*config, error) {
	var file fileConfig
	if err := jsonfile.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	if file.ModelType != ModelType {
		return nil, fmt.Errorf("config.json: model_type is %q, not %q", file.ModelType, ModelType)
	}
	text := file.Text
	if text == nil {
		return nil, errors.New("config.json: text_config is missing")
	}
	c := &config{eps: 1e-6, softcap: 30, canvas: 256, tied: true, bos: -1, pad: -1}
	p := &fields{}
	p.size(&c.vocab, "text_config.vocab_size", text.VocabSize)
	p.size(&c.hidden, "text_config.hidden_size", text.HiddenSize)
	p.size(&c.intermediate, "text_config.intermediate_size", text.Intermediate)
	p.size(&c.expert, "text_config.moe_intermediate_size", text.Expert)
	p.size(&c.experts, "text_config.num_experts", text.Experts)
	p.size(&c.chosen, "text_config.top_k_experts", text.Chosen)
	p.size(&c.window, "text_config.sliding_window", text.Window)
	p.size(&c.maxPositions, "text_config.max_position_embeddings", text.MaxPositions)
	if file.CanvasLength != nil {
		p.size(&c.canvas, "canvas_length", file.CanvasLength)
	}
	if text.Eps != nil {
		c.eps = *text.Eps
	}
	if text.Softcap != nil {
		c.softcap = *text.Softcap
	}
	if p.err != nil {
		return nil, p.err
	}
	if c.chosen > c.experts {
		return nil, fmt.Errorf("config.json: text_config.top_k_experts is %d, with %d experts", c.chosen, c.experts)
	}
	if err := c.checkNumbers("text_config.rms_norm_eps", "text_config.final_logit_softcapping"); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	if err := unsupported(text); err != nil {
		return nil, err
	}
	for _, tied := range []*bool{text.Tied, file.Tied} {
		if tied != nil && !*tied {
			c.tied = false
		}
	}
	if err := c.parseLayers(text); err != nil {
		return nil, err
	}
	if c.maxPositions > mostPositions {
		return nil, fmt.Errorf("config.json: text_config.max_position_embeddings is %d, want 1 to %d", c.maxPositions, mostPositions)
	}
	if n := c.roughParameters(); n > mostParameters {
		return nil, fmt.Errorf("config.json: a model of %.3g parameters; the dimensions cannot be meant", n)
	}
	if err := c.parseRope(text.Rope); err != nil {
		return nil, err
	}
	for _, id := range []*int32{text.BOS, file.BOS} {
		if id != nil {
			c.bos = *id
		}
	}
	for _, id := range []*int32{text.Pad, file.Pad} {
		if id != nil {
			c.pad = *id
		}
	}
	for _, ids := range []*idList{text.EOS, file.EOS} {
		if ids != nil {
			c.end = *ids
		}
	}
	return c, checkSpecialIDs("config.json", data, c.vocab)
}

// fields collects the first error over many fields.
type fields struct{ err error }

// size takes a required dimension.
func (f *fields) size(dst *int, name string, v *int) {
	switch {
	case f.err != nil:
	case v == nil:
		f.err = fmt.Errorf("config.json: %s is missing", name)
	case *v < 1 || *v > largest:
		f.err = fmt.Errorf("config.json: %s is %d, want 1 to %d", name, *v, largest)
	default:
		*dst = *v
	}
}

// unsupported names a trait of the configuration that this architecture does
// not have.
func unsupported(text *fileTextConfig) error {
	if a := text.Activation; a != nil && *a != "gelu_pytorch_tanh" {
		return fmt.Errorf("config.json: text_config.hidden_activation %q is not supported", *a)
	}
	if b := text.AttentionBias; b != nil && *b {
		return errors.New("config.json: text_config.attention_bias is not supported")
	}
	switch v := string(bytes.TrimSpace(text.Bidirectional)); v {
	case "", "null", "false", `"vision"`:
	default:
		return fmt.Errorf("config.json: text_config.use_bidirectional_attention %s is not supported", v)
	}
	if n := text.PerLayerInput; n != nil && *n != 0 {
		return errors.New("config.json: text_config.hidden_size_per_layer_input: per-layer embeddings are not supported")
	}
	if n := text.SharedKVLayers; n != nil && *n != 0 {
		return errors.New("config.json: text_config.num_kv_shared_layers: layers that share keys and values are not supported")
	}
	return nil
}

// parseLayers sets the attention shape of every layer.
func (c *config) parseLayers(text *fileTextConfig) error {
	var n, heads, kvHeads, headDim int
	p := &fields{}
	p.size(&n, "text_config.num_hidden_layers", text.Layers)
	p.size(&heads, "text_config.num_attention_heads", text.Heads)
	p.size(&kvHeads, "text_config.num_key_value_heads", text.KVHeads)
	p.size(&headDim, "text_config.head_dim", text.HeadDim)
	if p.err != nil {
		return p.err
	}
	if n > 1024 {
		return fmt.Errorf("config.json: text_config.num_hidden_layers is %d, want 1 to 1024", n)
	}
	if text.LayerTypes != nil && len(text.LayerTypes) != n {
		return fmt.Errorf("config.json: text_config.layer_types has %d entries for %d layers", len(text.LayerTypes), n)
	}
	for i := range n {
		layer := layerConfig{kind: model.Sliding, heads: heads, kvHeads: kvHeads, headDim: headDim}
		kind := "sliding_attention"
		if text.LayerTypes != nil {
			kind = text.LayerTypes[i]
		} else if i%6 == 5 {
			kind = "full_attention"
		}
		switch kind {
		case "sliding_attention":
		case "full_attention":
			layer.kind = model.Full
		default:
			return fmt.Errorf("config.json: text_config.layer_types[%d] %q is not supported", i, kind)
		}
		if i == n-1 {
			layer.kind = model.Full // the last layer always is (model.md §1.2)
		}
		if layer.kind == model.Full {
			if text.GlobalHeadDim != nil {
				layer.headDim = *text.GlobalHeadDim
			}
			if text.GlobalKVHeads != nil {
				layer.kvHeads = *text.GlobalKVHeads
			}
		}
		c.layers = append(c.layers, layer)
	}
	if err := c.parsePerLayer(text.PerLayer); err != nil {
		return err
	}
	if err := c.checkLayers(); err != nil {
		return fmt.Errorf("config.json: %w", err)
	}
	return nil
}

// checkNumbers checks the epsilon of the norms and the soft-cap, under the names
// that they have in the file.
func (c *config) checkNumbers(eps, softcap string) error {
	if !(c.eps > 0 && c.eps < 1) {
		return fmt.Errorf("%s is %v, want a small number above 0", eps, c.eps)
	}
	if !(c.softcap >= 0 && c.softcap < 1e6) {
		return fmt.Errorf("%s is %v, want 0 or above", softcap, c.softcap)
	}
	return nil
}

// checkLayers checks the attention shape of every layer.
func (c *config) checkLayers() error {
	for i, l := range c.layers {
		switch {
		case l.headDim < 2 || l.headDim > 1<<16 || l.headDim%2 != 0:
			return fmt.Errorf("layer %d: a head dimension of %d; want an even number", i, l.headDim)
		case l.heads < 1 || l.kvHeads < 1 || l.heads > 1<<12 || l.heads%l.kvHeads != 0:
			return fmt.Errorf("layer %d: %d query heads cannot share %d KV heads", i, l.heads, l.kvHeads)
		}
	}
	return nil
}

// roughParameters counts the parameters in float64, which does not overflow.
func (c *config) roughParameters() float64 {
	var n float64
	for _, slot := range c.slots() {
		elements := 1.0
		for _, d := range slot.Shape {
			elements *= float64(d)
		}
		n += elements
	}
	return n
}

// parsePerLayer applies the folded form: layer index to what differs there.
func (c *config) parsePerLayer(perLayer map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(perLayer)) {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(c.layers) || strconv.Itoa(i) != key {
			return fmt.Errorf("config.json: text_config.per_layer_config has no layer %q to name: layers are 0 to %d", key, len(c.layers)-1)
		}
		var f *filePerLayer
		if err := jsonfile.Strict(perLayer[key], &f); err != nil {
			return fmt.Errorf("config.json: text_config.per_layer_config.%s: %w", key, err)
		}
		if f == nil {
			continue
		}
		l := &c.layers[i]
		set(&l.headDim, f.HeadDim)
		set(&l.kvHeads, f.KVHeads)
		set(&l.heads, f.Heads)
	}
	return nil
}

// checkSpecialIDs refuses token ids of a configuration that the embedding has no
// row for: every field whose name ends in _token_id, at the top level and in
// text_config.
func checkSpecialIDs(file string, data []byte, vocab int) error {
	special, err := jsonfile.TokenIDs(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, named := range special {
		for _, id := range named.IDs {
			if id < 0 || id >= int64(vocab) {
				return fmt.Errorf("%s: %s is %d, beyond the table of %d ids", file, named.Key, id, vocab)
			}
		}
	}
	return nil
}
