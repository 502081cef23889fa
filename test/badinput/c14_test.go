package badinput

import (
	"strings"
	"testing"
)

// Case C14 of the regression list, parts c and e, as a person meets them; parts
// a, b and d are those of TestShards and of the package safetensors.

// c: a head of its own is promised and not there. Nothing is tied in silence.
func TestC14UntiedHead(t *testing.T) {
	untied := func(path string) edit { return set(configFile, path, false) }
	runDamaged(t, []damaged{
		{
			name:  "both keys",
			edits: []edit{untied("tie_word_embeddings"), untied("text_config.tie_word_embeddings")},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing lm_head.weight (tie_word_embeddings is false in config.json, so the head needs a tensor of its own)"},
		},
		{
			name:  "text_config alone",
			edits: []edit{untied("text_config.tie_word_embeddings")},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing lm_head.weight (tie_word_embeddings is false in config.json, so the head needs a tensor of its own)"},
		},
		{
			name:  "top level alone",
			edits: []edit{untied("tie_word_embeddings")},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing lm_head.weight (tie_word_embeddings is false in config.json, so the head needs a tensor of its own)"},
		},
		{
			name:  "another name",
			edits: []edit{untied("tie_word_embeddings"), tensors(copied("model.decoder.embed_tokens.weight", "model.lm_head.weight"))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing lm_head.weight (tie_word_embeddings is false in config.json, so the head needs a tensor of its own); nearest: model.lm_head.weight"},
		},
		{
			name:  "wrong shape",
			edits: []edit{untied("tie_word_embeddings"), tensors(with(stored{"lm_head.weight", "BF16", []int{1, 128}, make([]byte, 256)}))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  lm_head.weight in model.safetensors: shape [1 128], expected [384 128]"},
		},
		{
			name:  "there",
			edits: []edit{untied("tie_word_embeddings"), tensors(copied("model.decoder.embed_tokens.weight", "lm_head.weight"))},
			want:  want{answer: true, notes: setAside},
		},
	})
}

// e: the names stand under another prefix.
func TestC14Prefix(t *testing.T) {
	moved := func(from, to string) edit {
		return tensors(renamedAll(func(name string) string {
			if strings.Contains(name, "layer_scalar") || strings.Contains(name, "self_conditioning") {
				return name
			}
			return strings.Replace(name, from, to, 1)
		}))
	}
	runDamaged(t, []damaged{
		{
			name:  "the encoder's",
			edits: []edit{moved("model.decoder.", "model.encoder.language_model.")},
			want:  want{answer: true, notes: setAside},
		},
		{
			name:  "unknown",
			edits: []edit{moved("model.decoder.", "model.language_model.")},
			want:  want{code: 3, like: `fresco: MODEL: 105 tensors are missing:\n  missing model\.decoder\.embed_tokens\.weight; nearest: model\.language_model\.embed_tokens\.weight\n(  missing model\.decoder\.(\S+); nearest: model\.language_model\..*\n){9}  and 95 more`},
		},
	})
}
