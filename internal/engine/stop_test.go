package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model/fake"
)

// The cases a to c and e of C03, with the border between two canvases at every
// place, and in both modes. d, an empty stop text, is refused: TestCheck.
func TestC03StopTexts(t *testing.T) {
	tests := []struct {
		name, text string
		stop       []string
		want       string
	}{
		{"a", "red, green, blue", []string{"green"}, "red, "},
		{"b", "red, grey", []string{"green"}, "red, grey"},
		{"c", "a b X", []string{"XY", "b XZ"}, "a b X"},
		{"e", "red, green", []string{}, "red, green"},
		{"leftmost of two", "one two three", []string{"three", "two"}, "one "},
		{"leftmost, though it ends later", "abcdef", []string{"cd", "bcde"}, "a"},
		{"possible leftmost that never comes", "abcdxf", []string{"cd", "bcde"}, "ab"},
		{"possible leftmost at the end", "abcd", []string{"cd", "bcde"}, "ab"},
		{"same start", "xabc", []string{"abc", "ab"}, "x"},
		{"overlapping itself", "aabaaabaab", []string{"aabaab"}, "aaba"},
		{"at the very end", "red, gr", []string{", gr"}, "red"},
		{"almost at the very end", "red, gr", []string{", gre"}, "red, gr"},
	}
	tok := characters(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for length := 0; length <= 8; length++ {
				f := spellText(t, tok, test.text, test.stop, length)
				if f.Text != test.want || f.Reason != engine.FinishStop {
					t.Errorf("canvas length %d: %s with %q, want stop with %q", length, f.Reason, f.Text, test.want)
				}
				if len(f.IDs) != len(test.want) { // one token a character
					t.Errorf("canvas length %d: %d ids for %q", length, len(f.IDs), f.Text)
				}
			}
		})
	}
}

// The same text with the border after "gre", as the case has it.
func TestC03AcrossCanvases(t *testing.T) {
	tok := words(t, "red", ", ", "g", "re", "en", ", blue", "y")
	script := fake.Canvases(end, []int32{4, 5, 6, 7}, []int32{8, 9})
	r := diffuse(3)
	r.Stop = []string{"green"}
	h := run(t, small(script), tok, r)
	want := []string{
		"started: 1 tokens, seed 7, diffusion", "prefilled 1/1",
		`committed [4 5] "red, "`, `committed [] ""`, "finished: stop",
	}
	if diff := cmp.Diff(want, h.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if kept := []int{h.finished.Canvases[0].Kept, h.finished.Canvases[1].Kept}; !slices.Equal(kept, []int{2, 0}) {
		t.Errorf("tokens kept of the canvases: %v", kept)
	}
	h = run(t, small(fake.Canvases(end, []int32{4, 5, 6, 7}, []int32{10})), tok, r)
	want = []string{
		"started: 1 tokens, seed 7, diffusion", "prefilled 1/1",
		`committed [4 5] "red, "`, `committed [6 7 10] "grey"`, "finished: stop",
	}
	if diff := cmp.Diff(want, h.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// characters has a token for each character that the stop tests use.
func characters(t testing.TB) (ids map[rune]int32) {
	ids = map[rune]int32{}
	for i, r := range alphabet {
		ids[r] = int32(first + i)
	}
	return ids
}

const alphabet = "abcdefghijklmnopqrstuvwxyz, XYZ"

// spellText generates text in canvases of a length, 0 for autoregressive mode.
func spellText(t testing.TB, ids map[rune]int32, text string, stop []string, length int) engine.Finished {
	t.Helper()
	var answer []int32
	for _, r := range text {
		answer = append(answer, ids[r])
	}
	r := diffuse(3)
	r.Stop, r.Canvas = stop, length
	if length == 0 {
		r = autoregress(3)
		r.Stop = stop
	}
	o := fake.Options{Config: fake.Config(64, 8, 256), Script: spell(1, answer...)}
	return run(t, o, words(t, strings.Split(alphabet, "")...), r).finished
}

// However the tokens arrive, the answer is cut at the leftmost start of any stop
// text in the whole of it.
func TestStopProperty(t *testing.T) {
	ids := characters(t)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 1, 24, -1).Draw(rt, "text")
		stop := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 2, 6, -1), 1, 3).Draw(rt, "stop")
		limit := rapid.IntRange(0, 24).Draw(rt, "limit")
		whole, reason := text, engine.FinishStop
		if limit > 0 && limit < len(text) {
			whole, reason = text[:limit], engine.FinishLength
		}
		cut := len(whole)
		for _, s := range stop {
			if i := strings.Index(whole, s); i >= 0 && i < cut {
				cut, reason = i, engine.FinishStop
			}
		}
		var answer []int32
		for _, r := range text {
			answer = append(answer, ids[r])
		}
		for _, length := range []int{0, 1, 2, 5, 8} {
			r := diffuse(3)
			if length == 0 {
				r = autoregress(3)
			}
			r.Stop, r.Canvas, r.MaxTokens = stop, max(1, length), limit
			o := fake.Options{Config: fake.Config(64, 8, 256), Script: spell(1, answer...)}
			f := run(t, o, words(t, strings.Split(alphabet, "")...), r).finished
			want := reason
			// Whether an end token follows the last token allowed is only known when
			// it stands in the same canvas.
			if (length == 0 || len(text)%length == 0) && limit == len(text) && cut == len(whole) && cut > 0 {
				want = engine.FinishLength
			}
			if f.Text != whole[:cut] || f.Reason != want || len(f.IDs) != cut {
				rt.Fatalf("canvas length %d: %s with %q (%d ids), want %s with %q", length, f.Reason, f.Text, len(f.IDs), want, whole[:cut])
			}
		}
	})
}

// A stop text that is complete cuts the answer also when the limit comes before
// it is known whether an earlier one would have followed.
func TestStopUndecidedAtLimit(t *testing.T) {
	tok := words(t, "a", "b", "c", "d", "e")
	for length := 0; length <= 5; length++ {
		r := diffuse(3)
		if length == 0 {
			r = autoregress(3)
		}
		r.Canvas, r.MaxTokens, r.Stop = max(1, length), 4, []string{"cd", "bcde"}
		f := run(t, small(spell(1, 4, 5, 6, 7, 8, 4)), tok, r).finished
		want := "ab"
		if f.Text != want || f.Reason != engine.FinishStop {
			t.Errorf("canvas length %d: %s with %q, want stop with %q", length, f.Reason, f.Text, want)
		}
	}
}

// What is shown only at the end can hold a stop text too.
func TestStopInFlushedText(t *testing.T) {
	tok := words(t, "a", "b\uFFFD")
	r := diffuse(3)
	r.Stop = []string{"\uFFFD"}
	f := run(t, small(spell(1, 4, 5)), tok, r).finished
	if diff := cmp.Diff([]int32{4, 5}, f.IDs); diff != "" || f.Text != "ab" || f.Reason != engine.FinishStop {
		t.Errorf("%s with %q, ids (-want +got):\n%s", f.Reason, f.Text, diff)
	}
}

// A cut inside a token keeps the tokens that cover the text, and no others: not
// the special token that shows nothing.
func TestStopCutsInsideToken(t *testing.T) {
	tok := words(t, "one", " two three", " four")
	script := spell(1, 4, bos, 5, 6)
	r := diffuse(3)
	for _, test := range []struct {
		stop, text string
		ids        []int32
	}{
		{"two", "one ", []int32{4, bos, 5}},
		{"e two", "on", []int32{4}},
		{" two", "one", []int32{4}},
		{" four", "one two three", []int32{4, bos, 5}},
		{"three four", "one two ", []int32{4, bos, 5}},
	} {
		for _, length := range []int{1, 2, 3, 4, 8} {
			r.Stop, r.Canvas = []string{test.stop}, length
			f := run(t, small(script), tok, r).finished
			if diff := cmp.Diff(test.ids, f.IDs); diff != "" || f.Text != test.text {
				t.Errorf("stop %q, canvas length %d: %q, ids (-want +got):\n%s", test.stop, length, f.Text, diff)
			}
		}
	}
}

// A character that is spread over tokens is never shown in part: not at the
// border of two canvases, and at a limit as U+FFFD as Decode has it.
func TestNoHalfCharacters(t *testing.T) {
	tok := words(t, "a", "<0xE2>", "<0x82>", "<0xAC>", "b") // € is E2 82 AC
	ids := []int32{4, 5, 6, 7, 8}
	for _, stop := range [][]string{nil, {"zz"}} {
		for length := 0; length <= 5; length++ {
			r := diffuse(3)
			if length == 0 {
				r = autoregress(3)
			}
			r.Canvas, r.Stop = max(1, length), stop
			h := run(t, small(spell(1, ids...)), tok, r)
			if h.finished.Text != "a€b" {
				t.Errorf("canvas length %d: text %q", length, h.finished.Text)
			}
			for _, l := range h.lines {
				if strings.Contains(l, "�") {
					t.Errorf("canvas length %d: %s", length, l)
				}
			}
			for limit := 1; limit <= 5; limit++ {
				r.MaxTokens = limit
				f := run(t, small(spell(1, ids...)), tok, r).finished
				if want := tok.Decode(ids[:limit], true); f.Text != want || len(f.IDs) != limit {
					t.Errorf("canvas length %d, at most %d tokens: %q (%d ids), want %q", length, limit, f.Text, len(f.IDs), want)
				}
			}
		}
	}
}

func ExampleRequestError() {
	err := &engine.RequestError{Field: "stop[0]", Reason: "it is empty"}
	fmt.Println(err)
	// Output: stop[0]: it is empty
}
