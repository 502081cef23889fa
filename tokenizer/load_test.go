package tokenizer

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// set changes the value at a path of keys and indices in a JSON tree.
func set(value any, path ...any) func(map[string]any) {
	return func(tree map[string]any) {
		var at any = tree
		for _, step := range path[:len(path)-1] {
			if key, ok := step.(string); ok {
				at = at.(map[string]any)[key]
			} else {
				at = at.([]any)[step.(int)]
			}
		}
		switch last := path[len(path)-1].(type) {
		case string:
			at.(map[string]any)[last] = value
		case int:
			at.([]any)[last] = value
		}
	}
}

// drop removes the member at a path of keys.
func drop(path ...string) func(map[string]any) {
	return func(tree map[string]any) {
		for len(path) > 1 {
			tree, path = tree[path[0]].(map[string]any), path[1:]
		}
		delete(tree, path[0])
	}
}

// dropAdded removes a member of an added token.
func dropAdded(i int, key string) func(map[string]any) {
	return func(tree map[string]any) {
		delete(tree["added_tokens"].([]any)[i].(map[string]any), key)
	}
}

// parseTree gives every node the types that encoding/json chooses.
func parseTree(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// wantError loads data. In want, SIZE stands for its length.
func wantError(t *testing.T, data []byte, want string) {
	t.Helper()
	want = strings.ReplaceAll(want, "SIZE-1", strconv.Itoa(len(data)-1))
	want = "tokenizer: tokenizer.json: " + strings.ReplaceAll(want, "SIZE", strconv.Itoa(len(data)))
	tok, err := Load(data)
	if err == nil || tok != nil {
		t.Fatalf("Load = %v, %v; want the error %s", tok, err, want)
	}
	if err.Error() != want {
		t.Errorf("Load:\n got %s\nwant %s", err, want)
	}
}

func object(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(map[string]any)
		want   string
	}{
		{"version", set("2.0", "version"), `version "2.0" is not supported`},
		{"unknown field", set(1, "extra"), `field "extra" is not supported`},
		{"truncation", set(object("max_length", 512), "truncation"), `truncation {…} is not supported`},
		{"padding to a length", set(object("strategy", object("Fixed", 8)), "padding"), `padding of a single text is not supported`},
		{"padding to a multiple", set(object("strategy", "BatchLongest", "pad_to_multiple_of", 8), "padding"), `padding of a single text is not supported`},
		{"no model", drop("model"), `model is missing`},

		{"unigram", set("Unigram", "model", "type"), `model.type "Unigram" is not supported`},
		{"no type", drop("model", "type"), `model: type is missing`},
		{"no vocab", drop("model", "vocab"), `model: vocab is missing`},
		{"no merges", drop("model", "merges"), `model: merges is missing`},
		{"dropout", set(0.1, "model", "dropout"), `model.dropout 0.1 is not supported`},
		{"prefix", set("##", "model", "continuing_subword_prefix"), `model.continuing_subword_prefix "##" is not supported`},
		{"suffix", set("@@", "model", "end_of_word_suffix"), `model.end_of_word_suffix "@@" is not supported`},
		{"ignore_merges", set(true, "model", "ignore_merges"), `model.ignore_merges true is not supported`},
		{"no byte fallback", set(false, "model", "byte_fallback"), `model.byte_fallback false beside byte tokens is not supported`},
		{"unknown model field", set(1, "model", "max_input_chars_per_word"), `model: field "max_input_chars_per_word" is not supported`},
		{"unk_token absent", set("<what>", "model", "unk_token"), `model.unk_token: "<what>" is not in the vocabulary`},
		{"byte token missing", func(tree map[string]any) {
			drop("model", "vocab", "<0x0A>")(tree)
			set(nil, "model", "unk_token")(tree)
		}, `model.vocab: byte token <0x0A> is missing, and there is no unk_token`},

		{"duplicate id", set(7, "model", "vocab", "z"), `model.vocab: token "z": id 7 is already that of "a"`},
		{"negative id", set(-1, "model", "vocab", "z"), `model.vocab: token "z": id -1 is out of range (0 to SIZE-1 in a file of SIZE bytes)`},
		{"huge id", set(int64(1)<<31, "model", "vocab", "z"), `model.vocab: token "z": id 2147483648 is out of range (0 to SIZE-1 in a file of SIZE bytes)`},
		{"empty token", set(400, "model", "vocab", ""), `model.vocab: token is empty`},

		{"merge of an absent piece", set([]any{[]any{"a", "z"}}, "model", "merges"), `model.merges[0]: piece "z" is not in the vocabulary`},
		{"merge into an absent piece", set([]any{[]any{"a", "b"}, []any{"b", "a"}}, "model", "merges"), `model.merges[1]: piece "ba" is not in the vocabulary`},
		{"merge as string of an absent piece", set([]any{"q a"}, "model", "merges"), `model.merges[0]: piece "q" is not in the vocabulary`},
		{"merge of one", set([]any{[]any{"a"}}, "model", "merges"), `model.merges[0]: has 1 pieces, want 2`},
		{"merge of three", set([]any{[]any{"a", "b", "c"}}, "model", "merges"), `model.merges[0]: has 3 pieces, want 2`},
		{"merge as string of three", set([]any{"a b c"}, "model", "merges"), `model.merges[0]: has 3 pieces, want 2`},
		{"merge twice", set([]any{"a b", []any{"a", "b"}}, "model", "merges"), `model.merges[1]: repeats [0]`},

		{"lstrip", set(true, "added_tokens", 3, "lstrip"), `added_tokens[3]: token "<turn>": lstrip true is not supported`},
		{"rstrip", set(true, "added_tokens", 3, "rstrip"), `added_tokens[3]: token "<turn>": rstrip true is not supported`},
		{"single_word", set(true, "added_tokens", 3, "single_word"), `added_tokens[3]: token "<turn>": single_word true is not supported`},
		{"normalized", set(true, "added_tokens", 3, "normalized"), `added_tokens[3]: token "<turn>": normalized true is not supported`},
		{"added token without content", set("", "added_tokens", 0, "content"), `added_tokens[0]: content is missing or empty`},
		{"added token without id", dropAdded(1, "id"), `added_tokens[1]: id is missing`},
		{"long added token", set(strings.Repeat("x", 1025), "added_tokens", 0, "content"), `added_tokens[0]: content of 1025 bytes is longer than 1024`},
		{"added token twice", set(0, "added_tokens", 1, "id"), `added_tokens[1]: token "<bos>": id 0 occurs twice`},
		{"added token elsewhere", set(90, "added_tokens", 1, "id"), `added_tokens[1]: token "<bos>": id 90, but the vocabulary has it under 1`},
		{"added token on another", set("<new>", "added_tokens", 1, "content"), `added_tokens[1]: token "<new>": id 1 is already that of "<bos>"`},
		{"byte token special", func(tree map[string]any) {
			set("<0x41>", "added_tokens", 0, "content")(tree)
			set(tree["model"].(map[string]any)["vocab"].(map[string]any)["<0x41>"], "added_tokens", 0, "id")(tree)
		}, `model.vocab: byte token <0x41> is marked special`},

		{"no normalizer", set(nil, "normalizer"), `normalizer.type null is not supported`},
		{"normalizer", set(object("type", "NFKC"), "normalizer"), `normalizer.type "NFKC" is not supported`},
		{"other replacement", set("_", "normalizer", "content"), `normalizer: only a Replace of " " by "▁" is supported`},
		{"normalizer of text", set("x", "normalizer"), `normalizer: want an object`},
		{"pre-tokenizer", set(object("type", "ByteLevel"), "pre_tokenizer"), `pre_tokenizer.type "ByteLevel" is not supported`},
		{"other split", set("\n", "pre_tokenizer", "pattern", "String"), `pre_tokenizer: only a Split on " " that is not inverted is supported`},
		{"inverted split", set(true, "pre_tokenizer", "invert"), `pre_tokenizer: only a Split on " " that is not inverted is supported`},
		{"decoder", set(object("type", "WordPiece"), "decoder"), `decoder.type "WordPiece" is not supported`},
		{"decoder order", set(object("type", "Fuse"), "decoder", "decoders", 1), `decoder.decoders[1].type "Fuse" is not supported`},
		{"decoder too short", set([]any{replaceComponent(space, " ")}, "decoder", "decoders"), `decoder.decoders: ByteFallback is missing`},
		{"decoder replaces otherwise", set("_", "decoder", "decoders", 0, "content"), `decoder.decoders[0]: only a Replace of "▁" by " " is supported`},
		{"post-processor", set(object("type", "ByteLevel"), "post_processor"), `post_processor.type "ByteLevel" is not supported`},
		{"post-processor without text", set([]any{}, "post_processor", "single"), `post_processor.single: the text is missing`},
		{"token after the text", func(tree map[string]any) {
			p := tree["post_processor"].(map[string]any)
			single := p["single"].([]any)
			p["single"] = []any{single[1], single[0]}
		}, `post_processor.single[1]: only one special token, then the text, is supported`},
		{"bos is not defined", set(object(), "post_processor", "special_tokens"), `post_processor.special_tokens: "<bos>" does not stand for exactly one token`},
		{"bos has another id", set([]int{3}, "post_processor", "special_tokens", "<bos>", "ids"), `post_processor.special_tokens: token "<bos>" does not have the id 3`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := parseTree(t, marshal(t, small.tree()))
			test.change(tree)
			data := marshal(t, tree)
			wantError(t, data, test.want)
		})
	}
}

// TestLoadRefusesText has what a JSON tree cannot say.
func TestLoadRefusesText(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"empty", "", `byte 0: want an object, found the end of the file`},
		{"not an object", " []", `byte 1: want an object, found an array`},
		{"cut off", `{"version": "1.0", "model": {"vocab": {"a": 0, "b`, `model.vocab: byte 49: unterminated string`},
		{"not UTF-8", "{\"version\": \"\xff\"}", `byte 13: not valid UTF-8`},
		{"after the end", `{"version": "1.0"} x`, `byte 19: want the end of the file, found 'x'`},
		{"duplicate token", `{"model": {"vocab": {"a": 0, "b": 1, "a": 2}}}`, `model.vocab: token "a" occurs twice`},
		{"duplicate token by escape", `{"model": {"vocab": {"a": 0, "\u0061": 2}}}`, `model.vocab: token "a" occurs twice`},
		{"duplicate field", `{"version": "1.0", "version": "1.0"}`, `byte 29: field "version" occurs twice`},
		{"id with fraction", `{"model": {"vocab": {"a": 1.5}}}`, `model.vocab: token "a": byte 26: "1.5" is not an integer of 64 bits`},
		{"id beyond 64 bits", `{"model": {"vocab": {"a": 99999999999999999999}}}`, `model.vocab: token "a": byte 26: "99999999999999999999" is not an integer of 64 bits`},
		{"id of text", `{"model": {"vocab": {"a": "0"}}}`, `model.vocab: token "a": byte 26: want an integer, found a string`},
		{"half a surrogate", `{"model": {"vocab": {"\ud83d": 0}}}`, `model.vocab: byte 22: malformed \u escape or half of a surrogate pair`},
		{"control character", "{\"model\": {\"vocab\": {\"a\n\": 0}}}", `model.vocab: byte 23: control character 0x0a in a string`},
		{"vocab of text", `{"model": {"vocab": "x"}}`, `model.vocab: byte 20: want an object, found a string`},
		{"special of text", `{"added_tokens": [{"special": "x"}]}`, `added_tokens[0].special: byte 30: want a boolean, found a string`},
		{"deep", `{"decoder": ` + strings.Repeat("[", 100), `decoder: byte 75: nested deeper than 64`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantError(t, []byte(test.data), test.want) })
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || err.Error() != "tokenizer: "+dir+": not a regular file" {
		t.Errorf("Open of a folder: %v", err)
	}
	absent := filepath.Join(dir, "absent.json")
	if _, err := Open(absent); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), absent) != 1 {
		t.Errorf("Open of an absent file: %v", err)
	}
	path := filepath.Join(dir, "x.json")
	if err := os.WriteFile(path, []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "tokenizer: " + path + ": byte 0: want an object, found an array"
	if _, err := Open(path); err == nil || err.Error() != want {
		t.Errorf("Open = %v, want %s", err, want)
	}
}

// TestLoadAccepts has variations that mean the same, or do not matter.
func TestLoadAccepts(t *testing.T) {
	stringMerges := func(tree map[string]any) {
		model := tree["model"].(map[string]any)
		var list []any
		for _, pair := range model["merges"].([]any) {
			p := pair.([]any)
			list = append(list, p[0].(string)+" "+p[1].(string))
		}
		model["merges"] = list
	}
	changes := map[string]func(map[string]any){
		"merges as strings":    stringMerges,
		"batch padding":        set(object("strategy", "BatchLongest", "pad_id", 0, "pad_to_multiple_of", nil), "padding"),
		"no pre-tokenizer":     set(nil, "pre_tokenizer"),
		"empty suffix":         set("", "model", "end_of_word_suffix"),
		"no version":           drop("version"),
		"nothing about unk":    drop("model", "unk_token"),
		"nothing about pieces": drop("model", "ignore_merges"),
	}
	text := "abc aaaa\n\n<turn>é  b"
	want := small.load(t).Encode(text, EncodeOptions{AddSpecial: true})
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			tree := parseTree(t, marshal(t, small.tree()))
			change(tree)
			tok, err := Load(marshal(t, tree))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, tok.Encode(text, EncodeOptions{AddSpecial: true})); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("vocabulary after merges", func(t *testing.T) {
		tree := small.tree()
		model := tree["model"].(map[string]any)
		merges, vocab := marshal(t, model["merges"]), marshal(t, model["vocab"])
		delete(tree, "model")
		rest := strings.TrimSuffix(string(marshal(t, tree)), "}")
		data := rest + `,"model":{"type":"BPE","byte_fallback":true,"merges": ` + string(merges) + `,"vocab":` + string(vocab) + `}}`
		tok, err := Load([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tok.Encode(text, EncodeOptions{AddSpecial: true})); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
	})
}
