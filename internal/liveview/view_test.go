package liveview

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

// A screen is a terminal with as many rows as it needs. It knows the sequences
// that a View may use and fails on every other.
type screen struct {
	t        *testing.T
	rows     [][]rune
	row, col int
	hidden   bool
}

func (s *screen) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		known := map[string]func(){
			ansi.SetModeSynchronizedOutput:   func() {},
			ansi.ResetModeSynchronizedOutput: func() {},
			ansi.HideCursor:                  func() { s.hidden = true },
			ansi.ShowCursor:                  func() { s.hidden = false },
			ansi.EraseLineRight:              func() { s.erase() },
			ansi.EraseScreenBelow:            func() { s.erase(); s.rows = s.rows[:s.row+1] },
			"\r":                             func() { s.col = 0 },
			"\n":                             func() { s.row++ },
		}
		for n := range 60 {
			known[ansi.CursorUp(n+1)] = func() { s.row -= n + 1 }
		}
		for len(s.rows) <= s.row {
			s.rows = append(s.rows, nil)
		}
		done := false
		for sequence, act := range known {
			if strings.HasPrefix(text, sequence) {
				act()
				text, done = text[len(sequence):], true
				break
			}
		}
		if done {
			if s.row < 0 {
				s.t.Fatal("the cursor left the screen")
			}
			continue
		}
		if text[0] == '\x1b' {
			end := strings.IndexByte(text, 'm')
			if end < 0 || !strings.HasPrefix(text, "\x1b[") || strings.Trim(text[2:end], "0123456789;") != "" {
				s.t.Fatalf("unknown sequence %q", text[:min(len(text), 12)])
			}
			text = text[end+1:]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		for len(s.rows[s.row]) <= s.col {
			s.rows[s.row] = append(s.rows[s.row], ' ')
		}
		s.rows[s.row][s.col] = r
		s.col++
	}
	return len(p), nil
}

func (s *screen) erase() { s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))] }

func (s *screen) String() string {
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func TestViewDrawsInPlace(t *testing.T) {
	screen := &screen{t: t}
	var v vocabulary
	draft := grid().draft(&v)
	size := Size{80, 24}
	view := NewView(screen, func() Size { return size }, Colour, v.glyphs())

	check := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, screen.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	frame := func(tail string) string {
		text := ansi.Strip(Colour.Encode(Compose(Scene{Draft: draft, Tail: tail}, v.glyphs(), Size{size.Width - 1, size.Height - 1})))
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
		return strings.Join(lines, "\n")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	must(view.Draft(draft))
	must(view.Draft(draft))
	check("two frames", frame(""))
	if !screen.hidden {
		t.Error("the cursor blinks inside the frame")
	}
	must(view.Commit("first line\nsecond "))
	check("commit", "first line")
	size.Height = 14
	must(view.Draft(draft))
	check("frame below text", "first line\n"+frame("second "))
	must(view.Commit("half\x07\n"))
	must(view.Draft(draft))
	must(view.Clear())
	check("clear", "first line\nsecond half␇")
	must(view.Draft(draft))
	must(view.Commit("end"))
	must(view.Close())
	must(view.Close())
	check("close", "first line\nsecond half␇\nend")
	if screen.hidden {
		t.Error("the cursor is still hidden")
	}
}

func TestViewKeepsTheError(t *testing.T) {
	var v vocabulary
	draft := grid().draft(&v)
	out := &failing{}
	view := NewView(out, func() Size { return Size{80, 24} }, Mono, v.glyphs())
	if err := view.Draft(draft); !errors.Is(err, errGone) {
		t.Fatalf("got %v", err)
	}
	if err := view.Close(); !errors.Is(err, errGone) {
		t.Fatalf("got %v", err)
	}
	if out.writes != 1 {
		t.Errorf("%d writes to a terminal that is gone", out.writes)
	}
}

var errGone = errors.New("gone")

type failing struct{ writes int }

func (f *failing) Write([]byte) (int, error) {
	f.writes++
	return 0, fmt.Errorf("write: %w", errGone)
}
