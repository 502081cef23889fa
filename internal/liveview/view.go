package liveview

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/frescolm/fresco/internal/engine"
)

// A View draws frames on a terminal, each in the place of the one before, and
// text that stays above them. Its methods may be called from several goroutines.
// The first error of the terminal is kept, returned by every later call, and ends
// the drawing.
type View struct {
	mu      sync.Mutex
	out     io.Writer
	size    func() Size
	palette Palette
	glyphs  *Glyphs

	attempt int
	rows    int    // rows of the frame on the screen
	hidden  bool   // the cursor is hidden
	tail    string // committed text after the last line break, not yet printed
	err     error
}

// NewView returns a view that draws on out. size is asked before every frame, so
// that a resized terminal is noticed.
func NewView(out io.Writer, size func() Size, palette Palette, glyphs *Glyphs) *View {
	return &View{out: out, size: size, palette: palette, glyphs: glyphs}
}

// Attempt says which answer attempt the frames that follow belong to, from 0.
func (v *View) Attempt(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.attempt = n
}

// Draft draws a frame in the place of the last one.
func (v *View) Draft(d *engine.Draft) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	size := v.size()
	// The last column stays free, where terminals differ in when they wrap, and
	// one row, so that the line feed of the first frame is all that scrolls.
	size.Width--
	size.Height--
	frame := Compose(Scene{Draft: d, Tail: v.tail, Attempt: v.attempt}, v.glyphs, size)

	var b strings.Builder
	b.WriteString(ansi.SetModeSynchronizedOutput)
	if !v.hidden {
		b.WriteString(ansi.HideCursor)
		v.hidden = true
	}
	b.WriteString(v.home())
	for i, row := range frame {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(v.palette.encodeRow(row))
		b.WriteString(ansi.EraseLineRight)
	}
	b.WriteString(ansi.EraseScreenBelow)
	b.WriteString(ansi.ResetModeSynchronizedOutput)
	v.rows = len(frame)
	return v.write(b.String())
}

// Commit prints text that will not change any more above the frames. What
// follows its last line break is shown by the next frame and printed by Close.
func (v *View) Commit(text string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tail += text
	end := strings.LastIndexByte(v.tail, '\n')
	if end < 0 {
		return v.err
	}
	whole := v.tail[:end+1]
	v.tail = v.tail[end+1:]
	return v.write(v.clear() + crlf(Harmless(whole)))
}

// Clear takes the frame off the screen, so that something else can be printed.
func (v *View) Clear() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.write(v.clear() + v.show())
}

// Close takes the frame off the screen, prints what is left of the text, and
// shows the cursor again. It may be called more than once, and by the handler of
// a signal.
func (v *View) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	text := v.clear() + v.show()
	if v.tail != "" {
		text += Harmless(v.tail) + "\r\n"
		v.tail = ""
	}
	return v.write(text)
}

// home moves to the first column of the first row of the frame.
func (v *View) home() string {
	if v.rows == 0 {
		return ""
	}
	if v.rows == 1 {
		return "\r"
	}
	return "\r" + ansi.CursorUp(v.rows-1)
}

func (v *View) clear() string {
	if v.rows == 0 {
		return ""
	}
	text := v.home() + ansi.EraseScreenBelow
	v.rows = 0
	return text
}

func (v *View) show() string {
	if !v.hidden {
		return ""
	}
	v.hidden = false
	return ansi.ShowCursor
}

func (v *View) write(s string) error {
	if v.err != nil || s == "" {
		return v.err
	}
	if _, err := io.WriteString(v.out, s); err != nil {
		v.err = fmt.Errorf("terminal: %w", err)
	}
	return v.err
}

// crlf ends lines as a terminal needs it whatever its output mode is.
func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
