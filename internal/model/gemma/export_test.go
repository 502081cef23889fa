package gemma

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/model"
)

// What a GGUF file cannot say of a folder's configuration is refused.
func TestExpressible(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixtures.Root(), "testdata", "fixtures", "text", "ckpt", "tiny", "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*config)
		want   string // "" for none
	}{
		{"nothing", func(*config) {}, ""},
		{"heads that differ in number", func(c *config) { c.layers[0].heads = 2 }, ""},
		{"no sliding layer", func(c *config) {
			for i := range c.layers {
				c.layers[i] = c.layers[len(c.layers)-1]
			}
		}, ""},
		{"heads that differ in size", func(c *config) { c.layers[2].headDim = 8 }, "layer 2 has a head dimension of 8, and another sliding layer one of 16"},
		{"half of a head rotates", func(c *config) { c.full.partial = 0.5 }, "another part than the first quarter rotates"},
		{"a factor", func(c *config) { c.sliding.factor = 8 }, "the heads of sliding layers do not rotate as a whole, or with another factor than 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf, err := parseConfig(data)
			if err != nil {
				t.Fatal(err)
			}
			c.change(conf)
			_, err = conf.metadata(officialGeneration)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	const layer = decoderPrefix + "layers.3."
	for name, want := range map[string]model.Kind{
		decoderPrefix + "embed_tokens.weight":                model.Table,
		encoderPrefix + "embed_tokens.weight":                model.Table,
		headName:                                             model.Head,
		decoderPrefix + "norm.weight":                        model.Norm,
		layer + "self_attn.k_proj.weight":                    model.Attention,
		layer + "self_attn.o_proj.weight":                    model.Attention,
		layer + "self_attn.k_norm.weight":                    model.Norm,
		layer + "mlp.down_proj.weight":                       model.Dense,
		layer + "experts.gate_up_proj":                       model.Experts,
		layer + "experts.down_proj":                          model.Experts,
		layer + "router.proj.weight":                         model.Router,
		layer + "router.per_expert_scale":                    model.Router,
		layer + "post_feedforward_layernorm_1.weight":        model.Norm,
		layer + "layer_scalar":                               model.Scalar,
		encoderPrefix + "layers.3.layer_scalar":              model.Scalar,
		decoderPrefix + "self_conditioning.pre_norm.weight":  model.SelfConditioning,
		decoderPrefix + "self_conditioning.down_proj.weight": model.SelfConditioning,
	} {
		if got := kindOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
