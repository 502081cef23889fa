package models

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/fixtures"
)

// ggufModel writes a changed copy of the repository's GGUF model. A nil value
// takes the key out.
func ggufModel(t *testing.T, changed map[string]any) string {
	t.Helper()
	f, err := gguf.Open(filepath.Join(fixtures.Root(), "testdata", "fixtures", "formats", "gguf", "tiny-mixed.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	metadata := slices.DeleteFunc(f.Metadata(), func(kv gguf.KeyValue) bool {
		_, ok := changed[kv.Key]
		return ok
	})
	for key, value := range changed {
		if value != nil {
			metadata = append(metadata, gguf.KeyValue{Key: key, Value: value})
		}
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := gguf.WriteFile(path, metadata, f.Tensors()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenGGUF(t *testing.T) {
	const key = "tokenizer.ggml."
	for _, c := range []struct {
		name    string
		changed map[string]any
		want    string // of the error after the path, "" for none
		ids     int    // of the tokenizer
		form    string
		notes   []string
	}{
		{name: "as it is", ids: 2048, form: "turns"},
		{name: "a template that opens a thought", changed: map[string]any{templateKey: "<|channel>thought\n<channel|>"}, ids: 2048, form: "turns"},
		{name: "no tokenizer", changed: map[string]any{key + "model": nil, key + "tokens": nil},
			notes: []string{"no tokenizer in the metadata: prompts and answers are token ids"}},
		{name: "a tokenizer that says it is none", changed: map[string]any{key + "model": "no_vocab", key + "tokens": nil},
			notes: []string{"no tokenizer in the metadata: prompts and answers are token ids"}},
		{name: "older tokenizer", changed: map[string]any{key + "model": "llama"}, want: `key tokenizer.ggml.model: the tokenizer "llama" is not supported (supported: gemma4)`},
		{name: "no merges", changed: map[string]any{key + "merges": nil}, want: "key tokenizer.ggml.merges: absent"},
		{name: "scores for types", changed: map[string]any{key + "token_type": []float32{1}}, want: "key tokenizer.ggml.token_type: is of type array of f32, not an array of whole numbers"},
		{name: "space in front", changed: map[string]any{key + "add_space_prefix": true}, want: "key tokenizer.ggml.add_space_prefix: true is not supported"},
		{name: "end behind", changed: map[string]any{key + "add_eos_token": true}, want: "key tokenizer.ggml.add_eos_token: true is not supported"},
		{name: "mask beyond the table", changed: map[string]any{key + "mask_token_id": uint32(5000)}, want: "key tokenizer.ggml.mask_token_id: id 5000 is beyond the embedding's 2048 rows"},
		{name: "architecture", changed: map[string]any{"general.architecture": "gemma3"}, want: `general.architecture "gemma3" is not supported (supported: diffusion-gemma)`},
		{name: "no architecture", changed: map[string]any{"general.architecture": nil}, want: "key general.architecture: absent"},
		{name: "template of another type", changed: map[string]any{templateKey: uint8(1)}, want: "key tokenizer.chat_template: is of type u8, not a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := ggufModel(t, c.changed)
			seen, err := Inspect(path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Open(path, Options{Threads: 1})
			if c.want != "" {
				if want := path + ": " + c.want; err == nil || err.Error() != want || seen.Problem == nil || seen.Problem.Error() != want {
					t.Errorf("error %v, problem %v, want %q", err, seen.Problem, want)
				}
				return
			}
			if err != nil || seen.Problem != nil {
				t.Fatalf("error %v, problem %v", err, seen.Problem)
			}
			defer m.Close()
			if seen.TokenizerSize != c.ids || seen.Form != c.form || strings.Join(m.Notes, "\n") != strings.Join(c.notes, "\n") {
				t.Errorf("%d ids, form %q, notes %q", seen.TokenizerSize, seen.Form, m.Notes)
			}
		})
	}
}
