package tokenizer

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestC16UnknownID decodes ids beyond the 40 tokens of a vocabulary, as a model
// with more embedding rows than tokens may draw them.
func TestC16UnknownID(t *testing.T) {
	file := testFile{pieces: []string{"<unk>", "a", space}}
	for i := len(file.pieces); i < 40; i++ {
		file.pieces = append(file.pieces, fmt.Sprintf("p%d", i))
	}
	tok := file.load(t)
	if tok.Size() != 40 {
		t.Fatalf("Size = %d, want 40", tok.Size())
	}
	for _, id := range []int32{40, 45, 47, 1<<31 - 1, -1} {
		ids := []int32{1, id, 1}
		if got, want := tok.Decode(ids, true), "a\uFFFDa"; got != want {
			t.Errorf("Decode(%v) = %q, want %q", ids, got, want)
		}
		err := tok.Check(ids)
		var unknown *UnknownIDError
		if !errors.As(err, &unknown) || *unknown != (UnknownIDError{ID: id, Index: 1, Size: 40}) {
			t.Errorf("Check(%v) = %v", ids, err)
		}
		s := tok.NewStream(true)
		text := ""
		for _, id := range ids {
			piece, _ := s.Push(id)
			text += piece
		}
		if text += s.Flush(); text != "a\uFFFDa" {
			t.Errorf("stream of %v = %q", ids, text)
		}
	}
	err := tok.Check([]int32{1, 45})
	if want := "tokenizer: id 45 at index 1 has no token (40 ids)"; err == nil || err.Error() != want {
		t.Errorf("Check = %v, want %s", err, want)
	}
	if err := tok.Check([]int32{0, 39}); err != nil {
		t.Error(err)
	}
}

// byteRun returns the byte tokens of text.
func byteRun(tok *Tokenizer, text string) []int32 {
	ids := make([]int32, len(text))
	for i := range len(text) {
		ids[i] = tok.bytes[text[i]]
	}
	return ids
}

// TestStreamProperties compares a stream with Decode on ids of all kinds.
func TestStreamProperties(t *testing.T) {
	tok := small.load(t)
	rapid.Check(t, func(t *rapid.T) {
		var ids []int32
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "bytes") {
				text := rapid.SampledFrom([]string{"日", "é", "A", "\uFFFD", "\xff", "\xe6\x97", "\xa5"}).Draw(t, "text")
				ids = append(ids, byteRun(tok, text)...)
			} else {
				ids = append(ids, rapid.Int32Range(-1, int32(tok.Size())).Draw(t, "id"))
			}
		}
		skip := rapid.Bool().Draw(t, "skip")
		s := tok.NewStream(skip)
		shown := ""
		for i, id := range ids {
			text, ok := s.Push(id)
			if ok != (text != "") || !utf8.ValidString(text) || strings.HasSuffix(text, "\uFFFD") {
				t.Fatalf("id %d of %v: Push = %q, %t", i, ids, text, ok)
			}
			shown += text
			// Whatever has been shown and is not contradicted since is the
			// text of the ids so far.
			if now := tok.Decode(ids[:i+1], skip); ok && !strings.Contains(now, "\uFFFD") && shown != now {
				t.Fatalf("after %v: shown %q, text %q", ids[:i+1], shown, now)
			}
		}
		shown += s.Flush()
		full := tok.Decode(ids, skip)
		if !strings.Contains(full, "\uFFFD") && shown != full {
			t.Fatalf("%v: shown %q, text %q", ids, shown, full)
		}
		if !utf8.ValidString(shown) {
			t.Fatalf("%v: shown %q", ids, shown)
		}
		if again := s.Flush(); again != "" {
			t.Fatalf("second Flush = %q", again)
		}
	})
}

// TestStreamBrokenAfterShown pins down what is shown when a byte breaks a run
// of which a part was shown.
func TestStreamBrokenAfterShown(t *testing.T) {
	tok := small.load(t)
	a, _ := tok.TokenID("a")
	s := tok.NewStream(false)
	var got []string
	for _, id := range append(byteRun(tok, "A\xffB"), a) {
		text, _ := s.Push(id)
		got = append(got, text)
	}
	if want := "A|||\uFFFD\uFFFDa"; strings.Join(got, "|") != want {
		t.Errorf("pieces %q, want %s", got, want)
	}
}
