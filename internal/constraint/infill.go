package constraint

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/frescolm/fresco/internal/canvas"
)

// The brackets of a hole: ⟦3⟧ is three free positions, ⟦⟧ is one. A doubled
// bracket stands for itself.
const (
	openHole  = "⟦"
	closeHole = "⟧"
)

// MaxFree is the largest number of free positions in one infill text. It only
// guards against slips: a canvas is far shorter.
const MaxFree = 1_000_000

// A Part is a piece of an infill text: a literal, or a hole.
type Part struct {
	// Text is the literal, brackets unescaped; "" for a hole.
	Text string
	// Free is the number of free positions of a hole, at least 1; 0 for a
	// literal.
	Free int
}

// An InfillError says what is wrong with an infill text, and where.
type InfillError struct {
	// Byte and Rune are the offset of the place, from 0, in bytes and in
	// characters.
	Byte, Rune int
	Reason     string
}

func (e *InfillError) Error() string {
	return fmt.Sprintf("infill: character %d (byte %d): %s", e.Rune+1, e.Byte, e.Reason)
}

// ParseInfill splits an infill text into literals and holes. Two literals never
// follow each other; two holes may. The error is an *InfillError.
func ParseInfill(text string) ([]Part, error) {
	p := infillParser{text: text}
	for p.at < len(text) {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	p.endLiteral()
	return p.parts, nil
}

// infillParser is the state of one ParseInfill.
type infillParser struct {
	text    string
	at      int // the next byte to be read
	literal strings.Builder
	parts   []Part
	free    int // positions in holes so far
}

// next reads one character, one doubled bracket or one hole.
func (p *infillParser) next() error {
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, openHole+openHole):
		p.literal.WriteString(openHole)
		p.at += 2 * len(openHole)
	case strings.HasPrefix(rest, closeHole+closeHole):
		p.literal.WriteString(closeHole)
		p.at += 2 * len(closeHole)
	case strings.HasPrefix(rest, openHole):
		return p.hole(rest[len(openHole):])
	case strings.HasPrefix(rest, closeHole):
		return p.fail(closeHole + " without a hole before it (write " + closeHole + closeHole + " for the bracket itself)")
	default:
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 {
			return p.fail("the text is not UTF-8")
		}
		p.literal.WriteString(rest[:size])
		p.at += size
	}
	return nil
}

// hole reads a hole; inside is the text after its opening bracket.
func (p *infillParser) hole(inside string) error {
	size, _, closed := strings.Cut(inside, closeHole)
	if !closed {
		return p.fail(openHole + " is never closed (write " + openHole + openHole + " for the bracket itself)")
	}
	n := 1
	if size != "" {
		var problem string
		if n, problem = holeSize(size); problem != "" {
			return p.fail(problem)
		}
	}
	if p.free += n; p.free > MaxFree {
		return p.fail(fmt.Sprintf("more than %d free positions", MaxFree))
	}
	p.endLiteral()
	p.parts = append(p.parts, Part{Free: n})
	p.at += len(openHole) + len(size) + len(closeHole)
	return nil
}

// holeSize reads the number of positions of a hole: decimal digits without a
// sign, at least 1.
func holeSize(size string) (n int, problem string) {
	const shown = 20
	quoted := strconv.Quote(size)
	if utf8.RuneCountInString(size) > shown {
		quoted = strconv.Quote(string([]rune(size)[:shown])) + "…"
	}
	if strings.Trim(size, "0123456789") != "" {
		return 0, "a hole holds a number of positions, not " + quoted
	}
	digits := strings.TrimLeft(size, "0")
	if digits == "" {
		return 0, "a hole of 0 positions"
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > MaxFree {
		return 0, fmt.Sprintf("a hole of %s positions: more than %d", quoted[1:len(quoted)-1], MaxFree)
	}
	return n, ""
}

// endLiteral turns the characters gathered so far into a part.
func (p *infillParser) endLiteral() {
	if p.literal.Len() > 0 {
		p.parts = append(p.parts, Part{Text: p.literal.String()})
		p.literal.Reset()
	}
}

func (p *infillParser) fail(reason string) error {
	return &InfillError{Byte: p.at, Rune: utf8.RuneCountInString(p.text[:p.at]), Reason: reason}
}

// Cells turns parts into the cells of a canvas: the tokens of each literal
// pinned, the positions of holes free. Literals are encoded one by one, so no
// token reaches across the border of a hole; encode must add nothing of its own
// (no BOS).
func Cells(parts []Part, encode func(text string) []int32) []canvas.Cell {
	var cells []canvas.Cell
	for _, part := range parts {
		cells = append(cells, make([]canvas.Cell, part.Free)...)
		if part.Text == "" {
			continue
		}
		for _, id := range encode(part.Text) {
			cells = append(cells, canvas.Cell{Kind: canvas.Pinned, ID: id})
		}
	}
	return cells
}
