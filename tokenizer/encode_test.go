package tokenizer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pieces returns the spelling of ids.
func pieces(tok *Tokenizer, ids []int32) []string {
	texts := []string{}
	for _, id := range ids {
		text, _ := tok.Token(id)
		texts = append(texts, text)
	}
	return texts
}

func TestEncodeOptions(t *testing.T) {
	noBOS := small
	noBOS.bos = ""
	tests := []struct {
		name string
		file testFile
		text string
		opts EncodeOptions
		want string // pieces joined by |
	}{
		{"plain", small, "abc a", EncodeOptions{}, "abc|▁a"},
		{"bos", small, "abc", EncodeOptions{AddSpecial: true}, "<bos>|abc"},
		{"bos of nothing", small, "", EncodeOptions{AddSpecial: true}, "<bos>"},
		{"no post-processor", noBOS, "abc", EncodeOptions{AddSpecial: true}, "abc"},
		{"marker", small, "a<turn>b", EncodeOptions{}, "a|<turn>|b"},
		{"marker as text", small, "a<turn>b", EncodeOptions{SpecialAsText: true}, "a|<t|<0x75>|<0x72>|<0x6E>|<0x3E>|b"},
		{"runs are matched in both", small, "\n\n\n", EncodeOptions{SpecialAsText: true}, "\n\n|\n"},
		{"longest first", small, "a\n\n\nb", EncodeOptions{}, "a|\n\n|\n|b"},
		{"lowest rank, not longest", small, "aab", EncodeOptions{}, "aa|b"},
		{"leftmost of equals", small, "aaa", EncodeOptions{}, "aa|a"},
		{"spaces", small, "   a", EncodeOptions{}, "▁▁|▁a"},
		{"bytes", small, "aé", EncodeOptions{}, "a|<0xC3>|<0xA9>"},
		{"invalid", small, "a\xffa\xe6\x97", EncodeOptions{}, "a|<0xFF>|a|<0xE6>|<0x97>"},
		{"surrogate", small, "\xed\xa0\x80", EncodeOptions{}, "<0xED>|<0xA0>|<0x80>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tok := test.file.load(t)
			got := strings.Join(pieces(tok, tok.Encode(test.text, test.opts)), "|")
			if got != test.want {
				t.Errorf("Encode(%q) = %s, want %s", test.text, got, test.want)
			}
		})
	}
}

func TestEncodeOffsetsOfBytes(t *testing.T) {
	tok := small.load(t)
	_, got := tok.EncodeOffsets("a é\xffb", EncodeOptions{AddSpecial: true})
	want := []Span{{0, 0}, {0, 1}, {1, 2}, {2, 4}, {2, 4}, {4, 5}, {5, 6}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

// TestEncodeUnknown has a vocabulary without byte tokens.
func TestEncodeUnknown(t *testing.T) {
	file := testFile{pieces: []string{"<unk>", "a", space}, special: []string{"<unk>"}}
	tree := file.tree()
	for _, test := range []struct {
		fuse bool
		want []int32
		span []Span
	}{
		{true, []int32{1, 0, 2, 0, 1}, []Span{{0, 1}, {1, 4}, {4, 5}, {5, 6}, {6, 7}}},
		{false, []int32{1, 0, 0, 2, 0, 1}, []Span{{0, 1}, {1, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}},
	} {
		set(test.fuse, "model", "fuse_unk")(tree)
		tok, err := Load(marshal(t, tree))
		if err != nil {
			t.Fatal(err)
		}
		ids, spans := tok.EncodeOffsets("aéz \xffa", EncodeOptions{SpecialAsText: true})
		if diff := cmp.Diff(test.want, ids); diff != "" {
			t.Errorf("fuse %t: ids (-want +got):\n%s", test.fuse, diff)
		}
		if diff := cmp.Diff(test.span, spans); diff != "" {
			t.Errorf("fuse %t: spans (-want +got):\n%s", test.fuse, diff)
		}
	}
}

// TestSpecialAsText has special tokens that merges and single characters would
// reach too.
func TestSpecialAsText(t *testing.T) {
	file := testFile{
		pieces:  []string{"<", "t", ">", "<t", "<t>", "#", space},
		merges:  [][2]string{{"<", "t"}, {"<t", ">"}},
		special: []string{"<t>", "#"},
		bytes:   true,
	}
	tree := file.tree()
	set(nil, "model", "unk_token")(tree)
	tok, err := Load(marshal(t, tree))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(pieces(tok, tok.Encode("<t>#", EncodeOptions{SpecialAsText: true})), "|")
	if want := "<t|>|<0x23>"; got != want {
		t.Errorf("as text: %s, want %s", got, want)
	}
	got = strings.Join(pieces(tok, tok.Encode("<t>#", EncodeOptions{})), "|")
	if want := "<t>|#"; got != want {
		t.Errorf("as tokens: %s, want %s", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("<t># é"))).Draw(t, "text")
		ids := tok.Encode(text, EncodeOptions{SpecialAsText: true})
		for _, id := range ids {
			if tok.IsSpecial(id) {
				t.Fatalf("%q became the special token %d", text, id)
			}
		}
		if got := tok.Decode(ids, true); got != text {
			t.Fatalf("%q came back as %q", text, got)
		}
	})
}

func TestQueries(t *testing.T) {
	file := small
	file.pieces = append([]string{}, small.pieces...)
	file.pieces = append(file.pieces, "", "z", "") // holes, then the byte tokens
	tok := file.load(t)
	if got, want := tok.Size(), len(file.pieces)+256; got != want {
		t.Errorf("Size = %d, want %d", got, want)
	}
	hole := int32(len(small.pieces))
	if diff := cmp.Diff([]int32{hole, hole + 2}, tok.Unassigned()); diff != "" {
		t.Errorf("Unassigned (-want +got):\n%s", diff)
	}
	if id, ok := tok.TokenID("abc"); !ok || file.pieces[id] != "abc" {
		t.Errorf("TokenID(abc) = %d, %t", id, ok)
	}
	if _, ok := tok.TokenID(""); ok {
		t.Error("the empty text has an id")
	}
	for _, id := range []int32{-1, hole, int32(tok.Size()), 1<<31 - 1, -1 << 31} {
		if text, ok := tok.Token(id); ok || text != "" || tok.IsSpecial(id) {
			t.Errorf("id %d has the token %q", id, text)
		}
	}
	if id, ok := tok.BOS(); !ok || !tok.AddsBOS() || !tok.IsSpecial(id) {
		t.Errorf("BOS = %d, %t", id, ok)
	}
	file.bos = ""
	tok = file.load(t)
	if id, ok := tok.BOS(); !ok || tok.AddsBOS() || file.pieces[id] != "<bos>" {
		t.Errorf("BOS without post-processor = %d, %t, adds %t", id, ok, tok.AddsBOS())
	}
	none := testFile{pieces: []string{"<unk>"}}.load(t)
	if id, ok := none.BOS(); ok {
		t.Errorf("BOS of a file without one = %d", id)
	}
}
