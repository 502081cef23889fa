package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/frescolm/fresco/internal/convert"
	"github.com/frescolm/fresco/internal/liveview"
)

// quantizeCommand is "fresco quantize".
type quantizeCommand struct {
	Model string `arg:"" help:"An embedded model, a checkpoint folder or a GGUF file."`
	Out   string `arg:"" help:"The GGUF file to write."`

	Type    choice `of:"q4_0,mixed,q8_0,f16,bf16" required:"" placeholder:"NAME" help:"Format of the weights: q4_0, mixed, q8_0, f16 or bf16."`
	Force   bool   `help:"Overwrite OUT when it exists."`
	Threads whole  `max:"1024" placeholder:"N" help:"Threads. Default: the physical cores."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
	Quiet   bool   `short:"q" help:"No progress, notes or table."`
}

// Help is what "fresco quantize --help" says after the flags.
func (quantizeCommand) Help() string {
	return `Router, norms, scalars and self-conditioning stay precise whatever the type; the table has at least Q8_0. "mixed" has Q8_0 for table and attention, Q5_1 for the dense branch and Q4_0 for the experts. Where the rows of a tensor are not whole blocks, another format takes the place, and the table says so. The file appears when it is complete.

Examples:

    fresco quantize ./checkpoint model.gguf --type q4_0
    fresco quantize model.gguf smaller.gguf --type mixed --force
    fresco quantize sudoku sudoku.gguf --type q8_0 --json`
}

// Run writes the file and accounts for it.
func (q *quantizeCommand) Run(ctx context.Context, c *console) error {
	c.quiet = q.Quiet
	report, err := convert.Quantize(ctx, q.Model, q.Out, convert.Options{
		Type: string(q.Type), Force: q.Force, Threads: q.Threads.n, Progress: c.writing(),
	})
	c.settle()
	if err != nil {
		return err
	}
	for _, note := range report.Notes {
		c.note("note: %s", note)
	}
	switch {
	case q.JSON:
		return writeJSON(c.out, report)
	case q.Quiet:
		return nil
	}
	text := quantizeText(report)
	if c.out.terminal {
		text = liveview.Harmless(text)
	}
	_, err = c.out.Write([]byte(text))
	return err
}

// writing shows how far a file is.
func (c *console) writing() func(convert.Progress) {
	var shown time.Time
	return func(p convert.Progress) {
		if now := time.Now(); now.Sub(shown) > 100*time.Millisecond {
			shown = now
			c.progress("%3.0f %% of %s · %s", 100*float64(p.Done)/float64(p.Total), bytesText(p.Total), p.Tensor)
		}
	}
}

// quantizeText is the report for people.
func quantizeText(r *convert.Report) string {
	table := [][]string{{"part", "tensors", "format", "before", "after", "error"}}
	var before int64 // of what is written
	for _, k := range r.Kinds {
		before += k.SourceBytes
		var formats []string
		for _, f := range k.Formats {
			text := f.Format
			if len(k.Formats) > 1 {
				text += " × " + strconv.Itoa(f.Tensors)
			}
			formats = append(formats, text)
		}
		loss := "none"
		if k.RMSError > 0 {
			loss = fmt.Sprintf("%.3g (%.2g %%)", k.RMSError, 100*k.RelativeError)
		}
		table = append(table, []string{string(k.Kind), strconv.Itoa(k.Tensors), strings.Join(formats, ", "), grouped(k.SourceBytes), grouped(k.Bytes), loss})
	}
	table = append(table, []string{"all", strconv.Itoa(r.Tensors), "", grouped(before), grouped(r.Bytes), ""})
	widths := make([]int, len(table[0]))
	for _, cells := range table {
		for i, cell := range cells {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, cells := range table {
		line := fmt.Sprintf("%-*s  %*s  %-*s  %*s  %*s  %s", widths[0], cells[0], widths[1], cells[1],
			widths[2], cells[2], widths[3], cells[3], widths[4], cells[4], cells[5])
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString("\n")
	for _, row := range fallbackRows(r.Fallbacks) {
		b.WriteString(row + "\n")
	}
	fmt.Fprintf(&b, "tensors: %d in the source, %d written", r.SourceTensors, r.Tensors)
	if n := len(r.Added); n > 0 {
		fmt.Fprintf(&b, ", of them added: %s", strings.Join(r.Added, ", "))
	}
	b.WriteString("\n")
	for _, a := range r.SetAside {
		fmt.Fprintf(&b, "not written: %s (tensors: %d, bytes: %s)\n", a.Name, a.Tensors, grouped(a.Bytes))
	}
	for _, name := range r.Surplus {
		fmt.Fprintf(&b, "not written: %s, which no part of the model uses\n", name)
	}
	fmt.Fprintf(&b, "%s: %s bytes, %.1f s\n", r.Output, grouped(r.FileBytes), r.Seconds)
	return b.String()
}

// fallbackRows tells fallbacks that are alike in one row.
func fallbackRows(list []convert.Fallback) []string {
	type alike struct {
		row            int
		wanted, format string
	}
	var order []alike
	names := map[alike][]string{}
	for _, f := range list {
		key := alike{f.Row, f.Wanted, f.Format}
		if names[key] == nil {
			order = append(order, key)
		}
		names[key] = append(names[key], f.Tensor)
	}
	var rows []string
	for _, key := range order {
		all := names[key]
		row := fmt.Sprintf("%s instead of %s, because rows of %d are not whole blocks: %s", key.format, key.wanted, key.row, all[0])
		if len(all) > 1 {
			row += fmt.Sprintf(" and %d more", len(all)-1)
		}
		rows = append(rows, row)
	}
	return rows
}
