package liveview

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the expected frames")

// A sketch is a draft in short: one piece of text a position, and one letter a
// position: a accepted, n renoised, r renoised and rewritten, w accepted and
// rewritten, g given.
type sketch struct {
	best, current []string
	marks         string
}

// vocabulary gives every distinct piece an id.
type vocabulary struct{ pieces []string }

func (v *vocabulary) id(piece string) int32 {
	for i, p := range v.pieces {
		if p == piece {
			return int32(i)
		}
	}
	v.pieces = append(v.pieces, piece)
	return int32(len(v.pieces) - 1)
}

func (s sketch) draft(v *vocabulary) *engine.Draft {
	d := &engine.Draft{Step: 2, Steps: 48, Temperature: 0.79, MeanEntropy: 0.4321}
	for i, mark := range s.marks {
		d.Best = append(d.Best, v.id(s.best[i]))
		d.Current = append(d.Current, v.id(s.current[i]))
		d.Accepted = append(d.Accepted, mark == 'a' || mark == 'w')
		d.Rewritten = append(d.Rewritten, mark == 'r' || mark == 'w')
		d.Pinned = append(d.Pinned, mark == 'g')
		d.Entropy = append(d.Entropy, 0)
		if mark == 'a' || mark == 'w' {
			d.AcceptedCount++
		}
	}
	return d
}

func (v *vocabulary) glyphs() *Glyphs {
	return &Glyphs{
		Text:    func(id int32) string { return v.pieces[id] },
		Special: func(id int32) bool { return strings.HasPrefix(v.pieces[id], "<|") },
		End:     []int32{v.id("<eos>")},
		Pad:     v.id("<pad>"),
	}
}

// grid is a canvas of nine lines of nine digits; every third position is noise
// and position 40 was rewritten.
func grid() sketch {
	var s sketch
	rows := []string{"257968431", "186374295", "394125867", "673491582", "921856374", "548237619", "815743926", "762589143", "439612758"}
	noise := []string{"▁", "x", "\x1b", "<|turn>", "é", "\xff", "0"}
	for i, piece := range strings.Split(strings.Join(rows, "\n"), "") {
		current, mark := piece, "a"
		switch {
		case i == 40:
			current, mark = "?", "r"
		case i%3 == 1:
			current, mark = noise[i%len(noise)], "n"
		case i%10 == 0:
			mark = "g"
		}
		s.best, s.current, s.marks = append(s.best, piece), append(s.current, current), s.marks+mark
	}
	for range 7 {
		s.best, s.current, s.marks = append(s.best, "<eos>"), append(s.current, "<eos>"), s.marks+"a"
	}
	return s
}

func prose() sketch {
	var s sketch
	for i, word := range strings.Fields("A canvas of random tokens turns into an answer , 一 歩 ず つ , while the wide characters and a\u0301 keep to their columns .") {
		s.best = append(s.best, word+" ")
		s.current = append(s.current, []string{word + " ", "nonsense", "乱"}[i%3])
		s.marks += string("anr"[i%3])
	}
	return s
}

func TestFrames(t *testing.T) {
	first := grid()
	first.marks = strings.NewReplacer("g", "a", "r", "n").Replace(first.marks)
	for name, test := range map[string]struct {
		sketch  sketch
		size    Size
		palette Palette
		tail    string
		attempt int
	}{
		"grid":               {sketch: grid(), size: Size{79, 23}, palette: Colour},
		"grid-mono":          {sketch: grid(), size: Size{79, 23}, palette: Mono},
		"grid-nothing-given": {sketch: first, size: Size{79, 23}, palette: Colour, attempt: 1},
		"grid-narrow":        {sketch: grid(), size: Size{30, 30}, palette: Colour},
		"grid-short":         {sketch: grid(), size: Size{79, 12}, palette: Colour},
		"grid-tiny":          {sketch: grid(), size: Size{9, 4}, palette: Colour},
		"prose":              {sketch: prose(), size: Size{60, 23}, palette: Colour, tail: "The text before, which goes on: "},
		"prose-long-tail":    {sketch: prose(), size: Size{60, 23}, palette: Mono, tail: strings.Repeat("committed ", 30)},
	} {
		t.Run(name, func(t *testing.T) {
			var v vocabulary
			scene := Scene{Draft: test.sketch.draft(&v), Tail: test.tail, Attempt: test.attempt}
			text := test.palette.Encode(Compose(scene, v.glyphs(), test.size)) + "\n"
			text = strings.ReplaceAll(text, "\x1b[0m", "}")
			text = strings.ReplaceAll(text, "\x1b[", "{")
			path := filepath.Join("testdata", name+".frame")
			if *update {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text); diff != "" {
				t.Errorf("frame differs (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the canvas holds and however small the terminal is, a frame fits it
// and holds nothing that the terminal would act on.
func TestFrameFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\n", "7", "<eos>", "<pad>", "<|turn>", "", "\xff", "\u0301", "一二三", "👩‍👩‍👧", "\x1b[2J"}))
		n := rapid.IntRange(1, 120).Draw(t, "length")
		var s sketch
		for range n {
			s.best = append(s.best, piece.Draw(t, "best"))
			s.current = append(s.current, piece.Draw(t, "current"))
			s.marks += rapid.SampledFrom([]string{"a", "n", "r", "w", "g"}).Draw(t, "mark")
		}
		size := Size{rapid.IntRange(8, 120).Draw(t, "width"), rapid.IntRange(3, 40).Draw(t, "height")}
		var v vocabulary
		frame := Compose(Scene{Draft: s.draft(&v), Tail: piece.Draw(t, "tail")}, v.glyphs(), size)
		if len(frame) > size.Height {
			t.Fatalf("%d rows in a terminal of %d", len(frame), size.Height)
		}
		for _, row := range frame {
			if w := row.Width(); w > size.Width {
				t.Fatalf("row of %d columns in a terminal of %d: %v", w, size.Width, row)
			}
			for _, span := range row {
				for _, r := range span.Text {
					if unicode.IsControl(r) {
						t.Fatalf("control character in %q", span.Text)
					}
				}
				if w := ansi.StringWidth(span.Text); w > span.Width {
					t.Fatalf("span %q has %d columns, not %d", span.Text, w, span.Width)
				}
			}
		}
	})
}

// The four things that a frame must tell apart look different in every palette.
func TestPalettesTellApart(t *testing.T) {
	for name, palette := range map[string]Palette{"colour": Colour, "mono": Mono} {
		seen := map[string]Class{}
		for _, class := range []Class{Accepted, Noise, Guess, Rewritten, Given} {
			if other, ok := seen[palette[class]]; ok {
				t.Errorf("%s: classes %d and %d look alike", name, other, class)
			}
			seen[palette[class]] = class
		}
	}
	for class, look := range Mono {
		for _, parameter := range strings.Split(look, ";") {
			if len(parameter) > 1 {
				t.Errorf("mono: class %d has a colour: %q", class, look)
			}
		}
	}
}
