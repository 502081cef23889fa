package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/liveview"
)

// A printer shows an answer while it comes about.
type printer interface {
	// begin comes first. Text that will be checked is held back until the check
	// has passed.
	begin(checked bool) error
	// drafts reports whether the printer wants to see drafts.
	drafts() bool
	draft(*fresco.Draft) error
	committed(*fresco.Committed) error
	// redraw comes after an attempt whose answer did not pass.
	redraw(*outcome) error
	end(*outcome) error
}

// textPrinter writes the text as it is committed.
type textPrinter struct {
	c   *console
	out *output
	// ids writes token ids, for want of a tokenizer.
	ids bool

	held    bool
	written bool
	newline bool
}

func (p *textPrinter) begin(checked bool) error  { p.held = checked; return nil }
func (p *textPrinter) drafts() bool              { return false }
func (p *textPrinter) draft(*fresco.Draft) error { return nil }

func (p *textPrinter) committed(e *fresco.Committed) error {
	if p.held {
		return nil
	}
	text := e.Text
	if p.ids {
		text = joinIDs(e.IDs)
		if p.written && text != "" {
			text = "," + text
		}
	}
	return p.write(text)
}

func (p *textPrinter) redraw(o *outcome) error {
	p.c.redrawing(o)
	return nil
}

func (p *textPrinter) end(o *outcome) error {
	if p.held {
		if err := p.write(o.Text); err != nil {
			return err
		}
	}
	if p.written && !p.newline {
		if err := p.write("\n"); err != nil {
			return err
		}
	}
	p.c.closing(o)
	return nil
}

func (p *textPrinter) write(text string) error {
	if text == "" {
		return nil
	}
	p.written, p.newline = true, strings.HasSuffix(text, "\n")
	// A terminal gets no control sequences from a model.
	if p.out.terminal {
		text = liveview.Harmless(text)
	}
	_, err := io.WriteString(p.out, text)
	return err
}

func joinIDs(ids []int32) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.Itoa(int(id))
	}
	return strings.Join(texts, ",")
}

// livePrinter draws the canvas on a terminal.
type livePrinter struct {
	c    *console
	ctx  context.Context
	view *liveview.View
	ids  bool
	// prompt is shown above the canvas where the answer is checked against it.
	prompt string

	held bool
	// drawn is when the last frame was, the zero time for none.
	drawn time.Time
}

// minimumFrame is how long a frame stays when steps are faster than eyes.
const minimumFrame = 120 * time.Millisecond

func newLivePrinter(run *running) *livePrinter {
	m := run.model
	end, pad := m.EndTokens()
	glyphs := &liveview.Glyphs{End: end, Pad: pad}
	if m.Info().HasTokenizer {
		glyphs.Text = func(id int32) string { text, _ := m.Token(id); return text }
		glyphs.Special = func(id int32) bool { _, control := m.Token(id); return control }
	} else {
		glyphs.Text = func(id int32) string { return strconv.Itoa(int(id)) + " " }
	}
	view := liveview.NewView(run.c.out, run.c.out.size, palette(), glyphs)
	run.c.onClean(func() { _ = view.Close() }) // its error has nowhere to go
	return &livePrinter{c: run.c, ctx: run.ctx, view: view, ids: !m.Info().HasTokenizer, prompt: run.options.Prompt}
}

func (p *livePrinter) begin(checked bool) error {
	p.held = checked
	if checked {
		p.c.note("%s\n", strings.TrimRight(p.prompt, "\r\n"))
	}
	return nil
}

func (p *livePrinter) drafts() bool { return true }

func (p *livePrinter) draft(d *fresco.Draft) error {
	p.hold()
	p.drawn = time.Now()
	return p.view.Draft(d)
}

// hold lets the last frame be seen before something takes its place. An interrupt
// ends it.
func (p *livePrinter) hold() {
	if p.drawn.IsZero() {
		return
	}
	select {
	case <-p.ctx.Done():
	case <-time.After(minimumFrame - time.Since(p.drawn)):
	}
	p.drawn = time.Time{}
}

func (p *livePrinter) committed(e *fresco.Committed) error {
	p.hold()
	switch {
	case p.held:
		return nil
	case p.ids:
		return p.view.Commit(joinIDs(e.IDs) + "\n")
	}
	return p.view.Commit(e.Text)
}

func (p *livePrinter) redraw(o *outcome) error {
	p.view.Attempt(o.attempts)
	if err := p.view.Clear(); err != nil {
		return err
	}
	p.c.redrawing(o)
	return nil
}

func (p *livePrinter) end(o *outcome) error {
	if p.held {
		if err := p.view.Commit(o.Text); err != nil {
			return err
		}
	}
	if err := p.view.Close(); err != nil {
		return err
	}
	p.c.onClean(nil)
	p.c.closing(o)
	return nil
}

// redrawing says why an answer is drawn again.
func (c *console) redrawing(o *outcome) {
	c.note("attempt %d: not solved: %s; drawing again", o.attempts, o.problem)
}

// closing prints the verdict and the line about how the answer came about.
func (c *console) closing(o *outcome) {
	for _, warning := range o.Warnings {
		c.note("warning: %s", warning)
	}
	switch {
	case o.Reason == fresco.FinishCancelled && len(o.IDs) == 0:
		c.note("interrupted; nothing was committed yet")
	case o.Reason == fresco.FinishCancelled:
		c.note("interrupted; what was committed is printed")
	}
	if verdict := o.verdict(); verdict != "" {
		c.note("%s", verdict)
	}
	parts := o.line(c.info)
	if !c.err.terminal {
		c.note("%s", strings.Join(parts, separator))
		return
	}
	for _, row := range joined(parts, c.err.size().Width) {
		c.note("%s", row)
	}
}

const separator = " · "

// joined sets parts in rows of at most a width, as many in a row as fit.
func joined(parts []string, width int) []string {
	var rows []string
	row := ""
	for _, part := range parts {
		switch {
		case row == "":
			row = part
		case ansi.StringWidth(row+separator+part) <= width:
			row += separator + part
		default:
			rows, row = append(rows, row), part
		}
	}
	return append(rows, row)
}

// loading shows the progress of loading.
func (c *console) loading() func(fresco.LoadProgress) {
	said := false
	return func(p fresco.LoadProgress) {
		text := "loading " + p.Name
		if p.Bytes > 0 {
			text += " (" + bytesText(p.Bytes) + ")"
		}
		if c.err.drawable() {
			c.progress("%s: %.0f s", text, p.Elapsed.Seconds())
		} else if !said {
			said = true
			c.note("%s …", text)
		}
	}
}

// bytesText writes a number of bytes with a decimal unit.
func bytesText(n int64) string {
	switch {
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}
