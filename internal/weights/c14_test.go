package weights_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/weights"
)

// C14: folders whose layout gave misleading errors elsewhere. Each is either
// loaded or refused with a text that says what to look for.
func TestC14(t *testing.T) {
	const shard1, shard2 = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	norm, head := f32([]int{2}), f32([]int{3, 2})
	slots := []weights.Slot{
		{Name: "model.decoder.norm.weight", Shape: []int{2}},
		{Name: "lm_head.weight", Shape: []int{3, 2}, Hint: "tie_word_embeddings is false"},
	}
	all := encode(t, tensors{"model.decoder.norm.weight": norm, "lm_head.weight": head})
	for _, c := range []struct {
		name  string
		files map[string][]byte
		want  []string // in the error; none when it loads
	}{
		{"a single file without an index", map[string][]byte{"model.safetensors": all}, nil},
		{"b absent shard", map[string][]byte{
			shard1: encode(t, tensors{"model.decoder.norm.weight": norm}),
			"model.safetensors.index.json": index(t, map[string]string{
				"model.decoder.norm.weight": shard1, "lm_head.weight": shard2,
			}),
		}, []string{shard2, "tensor lm_head.weight"}},
		{"c untied head that is not there", map[string][]byte{
			"model.safetensors": encode(t, tensors{"model.decoder.norm.weight": norm}),
		}, []string{"missing lm_head.weight", "tie_word_embeddings"}},
		{"d one name twice", map[string][]byte{
			// of the same length, so that the header stays one
			"model.safetensors": bytes.ReplaceAll(
				encode(t, tensors{"w": norm, "v": norm}), []byte(`"v":`), []byte(`"w":`)),
		}, []string{"model.safetensors", "duplicate key", "w"}},
		{"e another prefix", map[string][]byte{
			"model.safetensors": encode(t, tensors{"model.language_model.norm.weight": norm, "lm_head.weight": head}),
		}, []string{"missing model.decoder.norm.weight", "nearest: model.language_model.norm.weight"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files["config.json"] = []byte("{}")
			ckpt, err := weights.OpenDir(folder(t, c.files))
			if err == nil {
				defer func() {
					if err := ckpt.Close(); err != nil {
						t.Error(err)
					}
				}()
				_, err = ckpt.Bind(slots, nil)
			}
			if (err == nil) != (c.want == nil) {
				t.Fatalf("error %v, want %q in it", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}
