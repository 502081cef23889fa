package liveview

import (
	"github.com/frescolm/fresco/internal/engine"
)

// A Class says what a span of a frame is; a Palette says how it looks.
type Class uint8

const (
	// Label is text about the canvas: headings, status, how much was cropped.
	Label Class = iota
	// Committed is text that will not change any more.
	Committed
	// Accepted positions keep their token in the next denoising step.
	Accepted
	// Noise is the random token of a position that was renoised.
	Noise
	// Guess is the best guess for a position, the same as a step before.
	Guess
	// Rewritten is a best guess that changed in this step.
	Rewritten
	// Given positions are pinned by the request.
	Given
	// Padding separates panels.
	Padding
)

// A Span is text of one class.
type Span struct {
	Text  string
	Class Class
	// Width is the number of columns of Text.
	Width int
}

// A Row is one terminal line.
type Row []Span

// Width is the number of columns of a row.
func (r Row) Width() int {
	n := 0
	for _, s := range r {
		n += s.Width
	}
	return n
}

// add appends text to the row and joins it with the span before when they are of
// one class.
func (r Row) add(text string, width int, class Class) Row {
	if n := len(r); n > 0 && r[n-1].Class == class {
		r[n-1].Text += text
		r[n-1].Width += width
		return r
	}
	return append(r, Span{text, class, width})
}

// active reports whether something in the row is still moving.
func (r Row) active() bool {
	for _, s := range r {
		if s.Class == Noise || s.Class == Rewritten {
			return true
		}
	}
	return false
}

// A Frame is one picture of a canvas.
type Frame []Row

// A Scene is what a frame shows.
type Scene struct {
	Draft *engine.Draft
	// Tail is the committed text of the line in which the canvas begins.
	Tail string
	// Attempt is the answer attempt, from 0.
	Attempt int
}

// A Size is that of a terminal, in columns and rows.
type Size struct{ Width, Height int }

const (
	// sideBySide is the width from which the two panels stand next to each
	// other.
	sideBySide = 44
	gutter     = 3
	// bareHeight is the height below which headings and legend are left out.
	bareHeight = 9
	tailRows   = 2
)

// Compose draws a scene into at most size.Height rows of at most size.Width
// columns. What does not fit is cropped, and the frame says how much. A size
// below 8 × 3 is treated as 8 × 3.
func Compose(s Scene, glyphs *Glyphs, size Size) Frame {
	size.Width, size.Height = max(size.Width, 8), max(size.Height, 3)
	d := s.Draft
	status := wrapItems(statusItems(s), size.Width)
	legend := legendRow(d, size.Width)
	bare := size.Height < bareHeight+len(status)
	if bare {
		status, legend = status[:1], nil
	}
	tail := tailOf(s.Tail, size.Width)
	if bare {
		tail = nil
	}
	room := max(size.Height-len(tail)-len(status), 1)
	if legend != nil {
		room--
	}

	var body Frame
	if size.Width >= sideBySide {
		width := (size.Width - gutter) / 2
		body = beside(canvasPanel(d, glyphs, width), guessPanel(d, glyphs, width), width, room, bare)
	} else {
		body = stacked(canvasPanel(d, glyphs, size.Width), guessPanel(d, glyphs, size.Width), size.Width, room, bare)
	}
	frame := append(tail, body...)
	frame = append(frame, status...)
	if legend != nil {
		frame = append(frame, legend)
	}
	return frame
}

// A panel holds the rows of every line of the canvas.
type panel [][]Row

// canvasPanel shows what the next denoising step will read.
func canvasPanel(d *engine.Draft, glyphs *Glyphs, width int) panel {
	return cells(d, glyphs, width, func(i int) (Glyph, Class) {
		glyph := glyphs.Glyph(d.Current[i])
		switch {
		case d.Pinned[i]:
			return glyph, Given
		case d.Accepted[i]:
			return glyph, Accepted
		}
		return glyph, Noise
	})
}

// guessPanel shows the argmax canvas.
func guessPanel(d *engine.Draft, glyphs *Glyphs, width int) panel {
	return cells(d, glyphs, width, func(i int) (Glyph, Class) {
		glyph := glyphs.Glyph(d.Best[i])
		switch {
		case d.Pinned[i]:
			return glyph, Given
		case d.Rewritten[i]:
			return glyph, Rewritten
		}
		return glyph, Guess
	})
}

// cells lays the positions of a canvas out: a line ends where the best guess has
// a line break, and a row where the next glyph does not fit.
func cells(d *engine.Draft, glyphs *Glyphs, width int, at func(i int) (Glyph, Class)) panel {
	var lines panel
	var rows []Row
	var row Row
	used := 0
	for i := range d.Best {
		glyph, class := at(i)
		ends := glyphs.Glyph(d.Best[i]).Breaks
		// A line break that is where the layout breaks needs no stand-in,
		// unless there is something to say about it.
		if !(ends && glyph.Text == standInBreak && class != Rewritten) {
			for text := glyph.Text; text != ""; {
				part, rest, w := fit(text, width)
				if used+w > width {
					rows, row, used = append(rows, row), nil, 0
				}
				row = row.add(part, w, class)
				used += w
				text = rest
			}
		}
		if ends {
			lines = append(lines, append(rows, row))
			rows, row, used = nil, nil, 0
		}
	}
	if row != nil || rows != nil {
		lines = append(lines, append(rows, row))
	}
	return lines
}

// beside sets two panels next to each other. Line k of both begins in the same
// row.
func beside(left, right panel, width, room int, bare bool) Frame {
	var body Frame
	total := 2*width + gutter
	for k := range max(len(left), len(right)) {
		var l, r []Row
		if k < len(left) {
			l = left[k]
		}
		if k < len(right) {
			r = right[k]
		}
		for i := range max(len(l), len(r)) {
			var row Row
			if i < len(l) {
				row = append(row, l[i]...)
			}
			row = pad(row, width+gutter)
			if i < len(r) {
				row = append(row, r[i]...)
			}
			body = append(body, row)
		}
	}
	if bare {
		return crop(body, room, total)
	}
	// Narrow panels (a grid) stand close together.
	heading := append(pad(label("canvas"), width+gutter), label("best guess")...)
	return narrow(append(Frame{heading}, crop(body, room-1, total)...), width+gutter)
}

// narrow takes out the columns that are empty to the left of the right panel in
// every row.
func narrow(f Frame, split int) Frame {
	spare := split
	for _, row := range f {
		for i, s := range row {
			if s.Class == Padding && row[:i+1].Width() == split {
				spare = min(spare, s.Width-gutter)
			}
		}
	}
	if spare <= 0 {
		return f
	}
	for r, row := range f {
		for i, s := range row {
			if s.Class == Padding && row[:i+1].Width() == split {
				f[r][i] = padding(s.Width - spare)
				break
			}
		}
	}
	return f
}

// stacked sets two panels one below the other and shares the rows between them.
func stacked(upper, lower panel, width, room int, bare bool) Frame {
	flat := func(p panel) Frame {
		var f Frame
		for _, rows := range p {
			f = append(f, rows...)
		}
		return f
	}
	if bare {
		return crop(flat(lower), room, width)
	}
	half := (room - 2) / 2
	frame := Frame{fitRow(label("canvas"), width)}
	frame = append(frame, crop(flat(upper), half, width)...)
	frame = append(frame, fitRow(label("best guess"), width))
	return append(frame, crop(flat(lower), half, width)...)
}

// crop keeps at most room rows, those around the first that still moves, and
// says how many are left out.
func crop(f Frame, room, width int) Frame {
	if len(f) <= room {
		return f
	}
	if room < 2 {
		return f[:max(room, 0)]
	}
	room-- // for the note
	first := 0
	for i, row := range f {
		if row.active() {
			first = max(i-1, 0)
			break
		}
	}
	first = min(first, len(f)-room)
	return append(f[first:first+room:first+room], fitRow(croppedNote(first, len(f)-first-room), width))
}
