package tokenizer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/fixtures"
)

// TestGoldenParts runs all cases on the tokenizers in the GGUF files of the
// fixtures, which are the tokenizer.json of the cases in parts.
func TestGoldenParts(t *testing.T) {
	whole, g := readGolden(t)
	paths, err := filepath.Glob(filepath.Join(fixtures.Dir(t, "formats/gguf"), "*.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no GGUF file")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			tok, err := FromParts(readParts(t, path))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(whole.vocab.pieces, tok.vocab.pieces); diff != "" {
				t.Fatalf("the vocabulary is not that of the cases (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(whole.special, tok.special); diff != "" {
				t.Errorf("special tokens (-want +got):\n%s", diff)
			}
			checkEncode(t, tok, g)
			checkDecode(t, tok, g)
			checkStream(t, tok, g)
		})
	}
}

func readParts(t *testing.T, path string) Parts {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var p Parts
	p.Tokens, err = f.Strings("tokenizer.ggml.tokens")
	must(err)
	p.Merges, err = f.Strings("tokenizer.ggml.merges")
	must(err)
	types, err := f.Ints("tokenizer.ggml.token_type")
	must(err)
	for _, typ := range types {
		p.Types = append(p.Types, TokenType(typ))
	}
	bos, err := f.Int("tokenizer.ggml.bos_token_id")
	must(err)
	p.BOS = int32(bos)
	p.AddBOS, err = f.Bool("tokenizer.ggml.add_bos_token")
	must(err)
	return p
}

// smallParts has all bytes, a few letters and a marker of each kind.
func smallParts() Parts {
	p := Parts{BOS: 0, AddBOS: true}
	add := func(piece string, typ TokenType) {
		p.Tokens, p.Types = append(p.Tokens, piece), append(p.Types, typ)
	}
	add("<bos>", Control)
	add("<unk>", Unknown)
	add("<|turn>", Control)
	add("<|channel>", UserDefined)
	add("<channel|>", UserDefined)
	add("<table>", UserDefined)
	add("\n\n", UserDefined)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), Byte)
	}
	for _, piece := range []string{"a", "b", "\u2581", "ab"} {
		add(piece, Normal)
	}
	p.Merges = []string{"a b"}
	add("[PAD]", Unused)
	add("<end>", Control)
	return p
}

func TestFromParts(t *testing.T) {
	tok, err := FromParts(smallParts())
	if err != nil {
		t.Fatal(err)
	}
	var special []string
	for id := range int32(tok.Size()) {
		if tok.IsSpecial(id) {
			piece, _ := tok.Token(id)
			special = append(special, piece)
		}
	}
	if diff := cmp.Diff([]string{"<bos>", "<unk>", "<|turn>", "<|channel>", "<channel|>", "<end>"}, special); diff != "" {
		t.Errorf("special tokens (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{int32(tok.Size() - 2)}, tok.Unassigned()); diff != "" {
		t.Errorf("ids without a token (-want +got):\n%s", diff)
	}
	ab, _ := tok.TokenID("ab")
	space, _ := tok.TokenID("\u2581")
	if diff := cmp.Diff([]int32{0, ab, space, ab, 6}, tok.Encode("ab ab\n\n", EncodeOptions{AddSpecial: true})); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	p := smallParts()
	p.AddBOS = false
	if tok, err = FromParts(p); err != nil || tok.AddsBOS() {
		t.Errorf("AddsBOS without AddBOS, error %v", err)
	}
	if id, ok := tok.BOS(); id != 0 || !ok {
		t.Errorf("BOS %d, %t", id, ok)
	}
}

func TestFromPartsRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Parts)
		want   string
	}{
		{"nothing", func(p *Parts) { *p = Parts{BOS: -1} }, "no tokens"},
		{"types", func(p *Parts) { p.Types = p.Types[1:] }, "268 types for 269 tokens"},
		{"empty token", func(p *Parts) { p.Tokens[2] = "" }, "token 2: token is empty"},
		{"twice", func(p *Parts) { p.Tokens[5] = "<bos>" }, `token 5: token "<bos>" occurs twice`},
		{"not UTF-8", func(p *Parts) { p.Tokens[5] = "a\xff" }, "token 5: byte 1: not valid UTF-8"},
		{"type", func(p *Parts) { p.Types[5] = 7 }, `token 5: "<table>": type 7 is not supported`},
		{"no byte token", func(p *Parts) { p.Types[5] = Byte }, `token 5: "<table>" is called a byte token, and is none`},
		{"two unknown", func(p *Parts) { p.Types[5] = Unknown }, `token 5: "<table>" is a second unknown token, after "<unk>"`},
		{"long", func(p *Parts) { p.Tokens[5] = strings.Repeat("x", 2000) }, "token 5: 2000 bytes are longer than 1024"},
		{"no pair", func(p *Parts) { p.Merges[0] = "ab" }, `merge 0: "ab" is not two pieces with a space between`},
		{"three", func(p *Parts) { p.Merges[0] = "a b c" }, "is not two pieces with a space between"},
		{"foreign piece", func(p *Parts) { p.Merges[0] = "a z" }, `merge 0: piece "z" is not in the vocabulary`},
		{"merge twice", func(p *Parts) { p.Merges = append(p.Merges, "a b") }, "merge 1: repeats [0]"},
		{"BOS", func(p *Parts) { p.BOS = 999 }, "BOS 999 is no token"},
		{"unused BOS", func(p *Parts) { p.BOS = 267 }, "BOS 267 is no token"},
		{"no BOS", func(p *Parts) { p.BOS = -1 }, "BOS goes before a text, but there is none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := smallParts()
			c.change(&p)
			if _, err := FromParts(p); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Every tokenizer of the fixtures can be taken apart, and a special token that
// parts cannot tell is refused.
func TestPartsOfATokenizer(t *testing.T) {
	dir := fixtures.Dir(t, "tokenizer")
	data, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Load(data)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := whole.Parts()
	if err != nil {
		t.Fatal(err)
	}
	again, err := FromParts(parts)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "some  text, ünïcode \u2581 😀", "<bos>a<|turn>user\nb<turn|>", "\x00\n\t"} {
		for _, special := range []bool{false, true} {
			o := EncodeOptions{AddSpecial: special}
			if a, b := whole.Encode(text, o), again.Encode(text, o); !slices.Equal(a, b) {
				t.Errorf("%q: %v, then %v", text, a, b)
			}
		}
	}
	// A visible token that is spelled like a marker would become special.
	marker := slices.IndexFunc(parts.Tokens, isMarker)
	if marker < 0 || !whole.IsSpecial(int32(marker)) {
		t.Fatal("no special marker in the fixture")
	}
	whole.special[marker] = false
	if _, err := whole.Parts(); err == nil || !strings.Contains(err.Error(), "would be special") {
		t.Errorf("error %v", err)
	}
}
