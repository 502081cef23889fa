package tokenizer

import (
	"encoding/json"
	"fmt"
	"testing"
)

// testFile describes a tokenizer.json for a test. The ids are the places in
// pieces; a piece "" leaves a hole.
type testFile struct {
	pieces  []string
	merges  [][2]string
	special []string // added tokens that are special
	added   []string // added tokens that are not
	bytes   bool     // all 256 byte tokens follow after pieces
	bos     string   // added by the post-processor, "" for none
}

// vocab returns the ids of the file's pieces.
func (f testFile) vocab() map[string]int {
	ids := map[string]int{}
	for id, piece := range f.pieces {
		if piece != "" {
			ids[piece] = id
		}
	}
	if f.bytes {
		for b := range 256 {
			ids[fmt.Sprintf("<0x%02X>", b)] = len(f.pieces) + b
		}
	}
	return ids
}

// tree returns the file as a JSON tree that a test may change.
func (f testFile) tree() map[string]any {
	vocab := f.vocab()
	added := []any{}
	for i, content := range append(append([]string{}, f.special...), f.added...) {
		added = append(added, map[string]any{
			"id": vocab[content], "content": content, "special": i < len(f.special),
			"single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
		})
	}
	single := []any{map[string]any{"Sequence": map[string]any{"id": "A", "type_id": 0}}}
	specials := map[string]any{}
	if f.bos != "" {
		single = append([]any{map[string]any{"SpecialToken": map[string]any{"id": f.bos, "type_id": 0}}}, single...)
		specials[f.bos] = map[string]any{"id": f.bos, "ids": []int{vocab[f.bos]}, "tokens": []string{f.bos}}
	}
	merges := f.merges
	if merges == nil {
		merges = [][2]string{}
	}
	return map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
		"normalizer":    replaceComponent(" ", space),
		"pre_tokenizer": map[string]any{"type": "Split", "pattern": map[string]any{"String": " "}, "behavior": "MergedWithPrevious", "invert": false},
		"post_processor": map[string]any{
			"type": "TemplateProcessing", "single": single, "pair": []any{}, "special_tokens": specials,
		},
		"decoder": map[string]any{"type": "Sequence", "decoders": []any{
			replaceComponent(space, " "), map[string]any{"type": "ByteFallback"}, map[string]any{"type": "Fuse"},
		}},
		"model": map[string]any{
			"type": "BPE", "dropout": nil, "unk_token": "<unk>", "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
			"vocab": vocab, "merges": merges,
		},
	}
}

func replaceComponent(from, to string) map[string]any {
	return map[string]any{"type": "Replace", "pattern": map[string]any{"String": from}, "content": to}
}

func marshal(t testing.TB, tree any) []byte {
	t.Helper()
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (f testFile) load(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := Load(marshal(t, f.tree()))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// small is a complete tokenizer with a few merges.
var small = testFile{
	pieces: []string{
		"<pad>", "<bos>", "<unk>", "<turn>", "\n", "\n\n", space, "a", "b", "c", "aa", "ab", "abc", "aaaa", space + "a", "<", "t", "<t",
		space + space,
	},
	merges: [][2]string{
		{space, space}, {"a", "a"}, {"aa", "aa"}, {"a", "b"}, {"ab", "c"}, {space, "a"}, {"<", "t"},
	},
	special: []string{"<pad>", "<bos>", "<unk>", "<turn>"},
	added:   []string{"\n", "\n\n"},
	bytes:   true,
	bos:     "<bos>",
}
