package liveview

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A Glyph is how one token looks in a cell.
type Glyph struct {
	// Text is what is drawn: printable, without line breaks, and at least one
	// column wide.
	Text string
	// Width is the number of terminal columns of Text.
	Width int
	// Breaks says that the line ends after the token.
	Breaks bool
}

// Stand-ins for what cannot be drawn as it is.
const (
	standInBreak   = "⏎"
	standInTab     = "→"
	standInPart    = "▫" // part of a character, or a character that acts on its neighbours
	standInSpecial = "◇"
	standInEnd     = "∎"
	standInPad     = "·"
	standInEmpty   = "∅"
)

// Glyphs maps token ids to glyphs. Its functions are asked once per id.
type Glyphs struct {
	// Text decodes one token; "" for an id without text.
	Text func(id int32) string
	// Special reports whether an id is a control token.
	Special func(id int32) bool
	// End lists the ids that end an answer, Pad fills what follows them.
	End []int32
	Pad int32

	known map[int32]Glyph
}

// Glyph returns how a token looks.
func (g *Glyphs) Glyph(id int32) Glyph {
	if glyph, ok := g.known[id]; ok {
		return glyph
	}
	if g.known == nil {
		g.known = map[int32]Glyph{}
	}
	glyph := g.make(id)
	g.known[id] = glyph
	return glyph
}

func (g *Glyphs) make(id int32) Glyph {
	for _, end := range g.End {
		if id == end {
			return newGlyph(standInEnd, false)
		}
	}
	if id == g.Pad {
		return newGlyph(standInPad, false)
	}
	if g.Special != nil && g.Special(id) {
		return newGlyph(standInSpecial, false)
	}
	text := g.Text(id)
	if text == "" {
		return newGlyph(standInEmpty, false)
	}
	return newGlyph(Visible(text), strings.HasSuffix(text, "\n"))
}

func newGlyph(text string, breaks bool) Glyph {
	width := ansi.StringWidth(text)
	if width == 0 {
		text, width = "◌"+text, 1
	}
	return Glyph{Text: text, Width: width, Breaks: breaks}
}

// Visible replaces what a terminal would act on instead of drawing it (control
// characters, line breaks, parts of characters, marks that reorder text) by
// visible stand-ins.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(standInBreak)
		case r == '\t':
			b.WriteString(standInTab)
		default:
			b.WriteString(visibleRune(r))
		}
	}
	return b.String()
}

// Harmless does the same for running text, in which line breaks and tabs stay.
func Harmless(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
		} else {
			b.WriteString(visibleRune(r))
		}
	}
	return b.String()
}

func visibleRune(r rune) string {
	switch {
	case r < 0x20:
		return string(0x2400 + r) // the pictures of the control characters
	case r == 0x7f:
		return "␡"
	case r == utf8.RuneError, r >= 0x80 && r < 0xa0, reorders(r), unicode.Is(unicode.Co, r), r == '\u2028', r == '\u2029':
		return standInPart
	}
	return string(r)
}

// reorders reports whether a rune changes the direction of its neighbours.
func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}
