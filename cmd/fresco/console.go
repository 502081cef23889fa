package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/liveview"
)

// A console is what the program was started on.
type console struct {
	in  io.Reader
	out *output
	err *output
	// typed is true when in is a terminal.
	typed bool
	// quiet leaves only answers and errors.
	quiet bool
	// info is that of the model that is run.
	info fresco.Info

	// mu guards transient: whether a line that will be overwritten is on err.
	mu        sync.Mutex
	transient bool
	// restore takes everything off the terminal that must not stay there.
	restore func()
}

// An output is stdout or stderr.
type output struct {
	file     *os.File
	terminal bool
	name     string
}

func newConsole() *console {
	return &console{
		in:    os.Stdin,
		typed: term.IsTerminal(os.Stdin.Fd()),
		out:   &output{os.Stdout, term.IsTerminal(os.Stdout.Fd()), "standard output"},
		err:   &output{os.Stderr, term.IsTerminal(os.Stderr.Fd()), "standard error"},
	}
}

// Write names the stream in its error.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil {
		return n, &writeError{o.name, err}
	}
	return n, nil
}

// drawable reports whether frames can be drawn on an output: it is a terminal
// that can move its cursor.
func (o *output) drawable() bool {
	kind := os.Getenv("TERM")
	return o.terminal && kind != "dumb" && kind != ""
}

// size is that of the terminal, or the classic one when it does not tell.
func (o *output) size() liveview.Size {
	width, height, err := term.GetSize(o.file.Fd())
	if err != nil || width <= 0 || height <= 0 {
		return liveview.Size{Width: 80, Height: 24}
	}
	return liveview.Size{Width: width, Height: height}
}

// palette obeys NO_COLOR (https://no-color.org).
func palette() liveview.Palette {
	if os.Getenv("NO_COLOR") != "" {
		return liveview.Mono
	}
	return liveview.Colour
}

// note prints a line for the person at the terminal, unless they asked for quiet.
// That a note cannot be written is no reason to stop.
func (c *console) note(format string, args ...any) {
	if c.quiet {
		return
	}
	c.settle()
	fmt.Fprintln(c.err, liveview.Harmless(fmt.Sprintf(format, args...)))
}

// progress shows a line that the next output takes the place of; on anything but
// a terminal it shows nothing.
func (c *console) progress(format string, args ...any) {
	if c.quiet || !c.err.drawable() {
		return
	}
	line := ansi.Truncate(liveview.Harmless(fmt.Sprintf(format, args...)), c.err.size().Width-1, "…")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.transient = true
	fmt.Fprint(c.err, "\r"+line+ansi.EraseLineRight)
}

// settle takes the line of progress away.
func (c *console) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transient {
		fmt.Fprint(c.err, "\r"+ansi.EraseLineRight)
		c.transient = false
	}
}

// clean leaves the terminal as it was found. It may be called at any time.
func (c *console) clean() {
	c.mu.Lock()
	restore := c.restore
	c.mu.Unlock()
	if restore != nil {
		restore()
	}
	c.settle()
}

// onClean says how clean takes away what is being drawn; nil for nothing.
func (c *console) onClean(restore func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restore = restore
}
