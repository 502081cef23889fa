package liveview

import "strings"

// A Palette gives every class its look: the parameters of an SGR escape
// sequence, "" for plain.
type Palette [Padding + 1]string

var (
	// Colour tells the classes apart by colours.
	Colour = Palette{Label: "2", Accepted: "1;32", Noise: "90", Rewritten: "30;43", Given: "36"}
	// Mono does without colours, as NO_COLOR asks: accepted positions are bold,
	// noise is faint, rewritten cells are reversed, given ones underlined.
	Mono = Palette{Label: "", Accepted: "1", Noise: "2", Rewritten: "7", Given: "4"}
)

// Encode writes a frame as text with escape sequences, rows joined by newlines.
func (p Palette) Encode(f Frame) string {
	rows := make([]string, len(f))
	for i, row := range f {
		rows[i] = p.encodeRow(row)
	}
	return strings.Join(rows, "\n")
}

func (p Palette) encodeRow(row Row) string {
	var b strings.Builder
	for _, s := range row {
		if look := p[s.Class]; look != "" {
			b.WriteString("\x1b[" + look + "m" + s.Text + "\x1b[0m")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}
