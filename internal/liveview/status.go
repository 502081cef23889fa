package liveview

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/frescolm/fresco/internal/engine"
)

// statusItems are the facts below the canvas.
func statusItems(s Scene) []string {
	d := s.Draft
	given := 0
	for _, pinned := range d.Pinned {
		if pinned {
			given++
		}
	}
	items := []string{fmt.Sprintf("step %d/%d", d.Step, d.Steps)}
	items = append(items,
		fmt.Sprintf("temperature %.2f", d.Temperature),
		fmt.Sprintf("entropy %.3f", d.MeanEntropy),
		fmt.Sprintf("accepted %d/%d", d.AcceptedCount, len(d.Best)),
	)
	if given > 0 {
		items = append(items, fmt.Sprintf("given %d", given))
	}
	items = append(items, fmt.Sprintf("canvas %d", d.Canvas+1))
	if d.Redraw {
		items = append(items, "redraw")
	}
	if s.Attempt > 0 {
		items = append(items, fmt.Sprintf("attempt %d", s.Attempt+1))
	}
	return items
}

// wrapItems sets items two columns apart, as many in a row as fit.
func wrapItems(items []string, width int) []Row {
	var rows []Row
	line := ""
	for _, item := range items {
		switch {
		case line == "":
			line = item
		case len(line)+2+len(item) <= width:
			line += "  " + item
		default:
			rows = append(rows, fitRow(label(line), width))
			line = item
		}
	}
	return append(rows, fitRow(label(line), width))
}

// legendRow explains the classes by their looks; nil when it does not fit.
func legendRow(d *engine.Draft, width int) Row {
	entries := []struct {
		text  string
		class Class
	}{{"accepted", Accepted}, {"renoised", Noise}, {"best guess", Guess}, {"rewritten", Rewritten}}
	for _, pinned := range d.Pinned {
		if pinned {
			entries = append(entries, struct {
				text  string
				class Class
			}{"given", Given})
			break
		}
	}
	var row Row
	for i, e := range entries {
		if i > 0 {
			row = append(row, padding(2))
		}
		row = append(row, Span{e.text, e.class, len(e.text)})
	}
	if row.Width() > width {
		return nil
	}
	return row
}

// tailOf shows the end of the committed line in which the canvas begins.
func tailOf(text string, width int) Frame {
	if text == "" {
		return nil
	}
	text = Visible(text)
	if total := ansi.StringWidth(text); total > tailRows*width {
		text = "…" + ansi.TruncateLeft(text, total-tailRows*width+2, "")
	}
	var rows Frame
	var row Row
	for text != "" {
		part, rest, w := fit(text, width)
		row = Row{{part, Committed, w}}
		rows, text = append(rows, row), rest
	}
	return rows
}

func croppedNote(above, below int) Row {
	var parts []string
	if above > 0 {
		parts = append(parts, fmt.Sprintf("%d rows above", above))
	}
	if below > 0 {
		parts = append(parts, fmt.Sprintf("%d rows below", below))
	}
	return label("… " + strings.Join(parts, ", "))
}

// fit cuts off the longest beginning of text that is at most width columns wide,
// and at least one character.
func fit(text string, width int) (part, rest string, columns int) {
	if w := ansi.StringWidth(text); w <= width {
		return text, "", w
	}
	part = ansi.Truncate(text, width, "")
	if part == "" { // one character wider than the row
		return standInPart, "", 1
	}
	return part, text[len(part):], ansi.StringWidth(part)
}

func label(text string) Row { return Row{{text, Label, ansi.StringWidth(text)}} }

func padding(n int) Span { return Span{strings.Repeat(" ", n), Padding, n} }

func pad(row Row, width int) Row {
	if n := width - row.Width(); n > 0 {
		row = append(row, padding(n))
	}
	return row
}

func fitRow(row Row, width int) Row {
	for i, s := range row {
		if s.Width > width {
			part, _, w := fit(s.Text, width)
			return append(row[:i:i], Span{part, s.Class, w})
		}
		width -= s.Width
	}
	return row
}
