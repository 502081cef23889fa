package tokenizer

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/frescolm/fresco/internal/fixtures"
)

// FuzzLoad loads foreign bytes. What loads has to be usable.
func FuzzLoad(f *testing.F) {
	f.Add(marshal(f, small.tree()))
	f.Add([]byte(`{"version":"1.0","model":{"type":"BPE","vocab":{},"merges":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Load(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tokenizer: tokenizer.json: ") {
				t.Fatalf("error without its place: %v", err)
			}
			return
		}
		if tok.Size() > len(data) {
			t.Fatalf("%d ids from %d bytes", tok.Size(), len(data))
		}
		if !json.Valid(data) {
			t.Fatal("loaded what is no JSON")
		}
		for _, text := range []string{"", "a", "abc <bos>\n\n", "é\xff \u2581", string(data[:min(len(data), 64)])} {
			for _, opts := range []EncodeOptions{{}, {AddSpecial: true}, {SpecialAsText: true}} {
				ids := tok.Encode(text, opts)
				if err := tok.Check(ids); err != nil {
					t.Fatalf("Encode(%q): %v", text, err)
				}
				tok.Decode(ids, true)
			}
		}
	})
}

// FuzzEncode checks on any text that it comes back, that the spans cover it in
// order, and that a stream shows it.
func FuzzEncode(f *testing.F) {
	path := filepath.Join(fixtures.Dir(f, "tokenizer"), "tokenizer.json")
	tok, err := Open(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "Hello, world!", "a  b\n\n\n\tc", "<|turn>user\n", "日本 😀 \r\n", "\xff\xe6\x97a", "▁ ▁▁", "\uFFFD"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, asText bool) {
		opts := EncodeOptions{SpecialAsText: asText}
		ids, spans := tok.EncodeOffsets(text, opts)
		if err := tok.Check(ids); err != nil {
			t.Fatal(err)
		}
		last := Span{}
		for i, s := range spans {
			if s != last && s.Start != last.End || s.End <= s.Start {
				t.Fatalf("span %d is %v after %v", i, s, last)
			}
			last = s
			if asText && tok.IsSpecial(ids[i]) {
				t.Fatalf("%q became the special token %d", text, ids[i])
			}
		}
		if last.End != len(text) {
			t.Fatalf("the spans end at %d of %d", last.End, len(text))
		}
		if !utf8.ValidString(text) || strings.Contains(text, space) {
			tok.Decode(ids, false)
			return
		}
		if got := tok.Decode(ids, false); got != text {
			t.Fatalf("%q came back as %q", text, got)
		}
		stream := tok.NewStream(false)
		shown := ""
		for _, id := range ids {
			piece, _ := stream.Push(id)
			shown += piece
		}
		if shown += stream.Flush(); shown != text {
			t.Fatalf("%q was shown as %q", text, shown)
		}
	})
}

// FuzzJSON compares the reader with encoding/json, which accepts a little more:
// deep nesting and halves of surrogate pairs.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, -2.5e+3, "x\n\u00e9\ud83d\ude00"], "b": {"c": null}, "d": true}`, `[]`, `{}`, ` "\u0000" `,
		`01`, `1.`, `-`, `1e`, `[1,]`, `{"a":1,}`, `{"a"}`, `"\x"`, `"\ud800"`, "\"\x01\"", `nul`, `truefalse`, `[1 2]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) {
			return
		}
		r := &jsonReader{data: data}
		_, err := r.raw()
		if err == nil {
			err = r.end()
		}
		if valid := json.Valid(data); valid != (err == nil) {
			if valid && (strings.Contains(err.Error(), "surrogate") || strings.Contains(err.Error(), "nested")) {
				return
			}
			t.Fatalf("valid %t, but %v", valid, err)
		}
		var want string
		if err == nil && json.Unmarshal(data, &want) == nil && data[0] == '"' {
			got, err := (&jsonReader{data: data}).str()
			if err != nil || string(got) != want {
				t.Fatalf("string %q, %v; want %q", got, err, want)
			}
		}
	})
}

// FuzzFromParts asks of parts of any kind that they are refused or give a
// tokenizer that works. Pieces and merges are separated by zero bytes; a type is a
// byte of kinds.
func FuzzFromParts(f *testing.F) {
	p := smallParts()
	kinds := make([]byte, len(p.Types))
	for i, typ := range p.Types {
		kinds[i] = byte(typ)
	}
	f.Add(strings.Join(p.Tokens, "\x00"), kinds, strings.Join(p.Merges, "\x00"), int32(0), "ab ab\n\n<|turn>")
	f.Add("<unk>\x00a", []byte{2, 1}, "", int32(-1), "ab")
	f.Fuzz(func(t *testing.T, tokens string, kinds []byte, merges string, bos int32, text string) {
		p := Parts{Tokens: strings.Split(tokens, "\x00"), BOS: bos, AddBOS: bos >= 0}
		for _, k := range kinds {
			p.Types = append(p.Types, TokenType(k))
		}
		if merges != "" {
			p.Merges = strings.Split(merges, "\x00")
		}
		tok, err := FromParts(p)
		if err != nil {
			return
		}
		ids := tok.Encode(text, EncodeOptions{AddSpecial: true})
		if err := tok.Check(ids); err != nil {
			t.Errorf("Encode(%q) = %v: %v", text, ids, err)
		}
		tok.Decode(ids, true)
	})
}
