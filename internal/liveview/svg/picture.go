package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/liveview"
)

// Lengths of the picture in pixels. Every character has its own place, so that
// columns hold whatever font the reader has.
const (
	charWidth  = 8.4
	lineHeight = 18.0
	margin     = 16.0
	between    = 24.0
	fontSize   = 14
)

// style is how a class looks on the dark ground of the picture.
var style = map[liveview.Class]string{
	liveview.Label:     `fill="#8b949e"`,
	liveview.Committed: `fill="#e6edf3"`,
	liveview.Accepted:  `fill="#3fb950" font-weight="bold"`,
	liveview.Noise:     `fill="#6e7681"`,
	liveview.Guess:     `fill="#e6edf3"`,
	liveview.Rewritten: `fill="#0d1117" font-weight="bold"`,
	liveview.Given:     `fill="#39c5cf"`,
}

// paint sets the frames of the drafts side by side and the legend below.
func paint(drafts []*engine.Draft, glyphs *liveview.Glyphs) string {
	var body strings.Builder
	x, height := margin, 0.0
	for n, d := range drafts {
		frame := liveview.Compose(liveview.Scene{Draft: d}, glyphs, liveview.Size{Width: 2*columns(d, glyphs) + 3, Height: 60})
		if n > 0 {
			frame = frame[:len(frame)-1] // one legend is enough
		}
		columns := 0
		for _, row := range frame {
			columns = max(columns, row.Width())
		}
		for i, row := range frame {
			paintRow(&body, row, x, margin+float64(i+1)*lineHeight)
		}
		x += float64(columns)*charWidth + between
		height = max(height, float64(len(frame))*lineHeight)
	}
	width := x - between + margin
	height += 2*margin + lineHeight/2
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="A canvas while it is denoised, one frame a step">
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="%d" xml:space="preserve">
%s</g>
</svg>
`, width, height, width, height, fontSize, body.String())
}

// columns is the width of a panel that holds every line of the canvas, and the
// status below it.
func columns(d *engine.Draft, glyphs *liveview.Glyphs) int {
	widest, best, current := 22, 0, 0
	for i, id := range d.Best {
		glyph := glyphs.Glyph(id)
		if glyph.Breaks {
			best, current = 0, 0
			continue
		}
		best += glyph.Width
		current += glyphs.Glyph(d.Current[i]).Width
		widest = max(widest, best, current)
	}
	return widest
}

func paintRow(b *strings.Builder, row liveview.Row, x, y float64) {
	for _, span := range row {
		width := float64(span.Width) * charWidth
		if span.Class == liveview.Rewritten {
			fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#d29922\"/>\n", x, y-lineHeight+4, width, lineHeight)
		}
		if look, ok := style[span.Class]; ok && strings.TrimSpace(span.Text) != "" {
			fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\" lengthAdjust=\"spacing\" %s>%s</text>\n",
				x, y, width, look, html.EscapeString(span.Text))
		}
		x += width
	}
}
