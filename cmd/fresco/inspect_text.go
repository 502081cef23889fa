package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// text writes the report for a person.
func (r *inspectReport) text(every bool) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-20s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("model", "%s", r.Model)
	if r.Memory == nil {
		return b.String()
	}
	line("architecture", "%s", r.Architecture)
	for _, d := range r.Dimensions {
		line(d.Name, "%s", d.Value)
	}
	line("layer pattern", "%s", layerPattern(r.Layers))
	line("parameters", "%s", grouped(r.Parameters))
	line("active parameters", "%s a token, without embedding and head", grouped(r.Active))
	line("KV cache, bf16", "%s bytes a token in full layers, %s in sliding ones, within their window", grouped(r.KVBytes), grouped(r.SlidingBytes))
	if r.TokenizerIDs > 0 {
		line("tokenizer", "%s ids; prompt form: %s", grouped(int64(r.TokenizerIDs)), r.PromptForm)
	} else {
		line("tokenizer", "none; prompts are token ids (--ids)")
	}
	for _, note := range r.Notes {
		line("note", "%s", note)
	}
	r.tensorText(&b, every)
	r.differenceText(&b)
	r.memoryText(&b)
	return b.String()
}

// A tensorRow stands for tensors that differ only in the number of their layer.
type tensorRow struct {
	name, dtype, shape string
	count              int
	bytes              int64
}

var layerNumber = regexp.MustCompile(`\.\d+\.`)

// tensorText writes the table of tensors.
func (r *inspectReport) tensorText(b *strings.Builder, every bool) {
	var rows []*tensorRow
	known := map[string]*tensorRow{}
	var total int64
	for _, t := range r.Tensors {
		name := t.Name
		if !every {
			name = layerNumber.ReplaceAllString(name, ".*.")
		}
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", " × ")
		key := name + "\n" + t.DType + "\n" + shape
		row := known[key]
		if row == nil {
			row = &tensorRow{name: name, dtype: t.DType, shape: shape}
			known[key], rows = row, append(rows, row)
		}
		row.count++
		row.bytes += t.Bytes
		total += t.Bytes
	}
	widths := [3]int{len("tensor"), len("dtype"), len("shape")}
	for _, row := range rows {
		for i, text := range []string{row.name, row.dtype, row.shape} {
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	fmt.Fprintf(b, "\n%-*s  %5s  %-*s  %-*s  %16s\n", widths[0], "tensor", "count", widths[1], "dtype", widths[2], "shape", "bytes")
	for _, row := range rows {
		fmt.Fprintf(b, "%-*s  %5d  %-*s  %-*s  %16s\n", widths[0], row.name, row.count, widths[1], row.dtype, widths[2], row.shape, grouped(row.bytes))
	}
	fmt.Fprintf(b, "%-*s  %5d  %-*s  %-*s  %16s\n", widths[0], "in "+strings.Join(fileNames(r.Tensors), ", "), len(r.Tensors), widths[1], "", widths[2], "", grouped(total))
}

// differenceText says how the tensors differ from what the architecture expects.
func (r *inspectReport) differenceText(b *strings.Builder) {
	b.WriteString("\n")
	section := func(name string, lines []string) {
		if len(lines) == 0 {
			fmt.Fprintf(b, "%-20s  none\n", name)
			return
		}
		for i, text := range lines {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(b, "%-20s  %s\n", name, text)
		}
	}
	section("missing", r.Missing)
	if len(r.Wrong) > 0 {
		section("unusable", r.Wrong)
	}
	section("surplus", r.Surplus)
	var aside []string
	for _, g := range r.Aside {
		aside = append(aside, fmt.Sprintf("%s: %s, %s bytes", g.Name, plural(g.Tensors, "tensor", "tensors"), grouped(g.Bytes)))
	}
	section("set aside", aside)
}

func (r *inspectReport) memoryText(b *strings.Builder) {
	m := r.Memory
	fmt.Fprintf(b, "\nmemory at %s tokens of context\n", grouped(int64(m.Context)))
	for _, item := range m.Items {
		fmt.Fprintf(b, "  %-26s  %12s\n", item.Name, bytesText(item.Bytes))
	}
	fmt.Fprintf(b, "  %-26s  %12s\n", "total", bytesText(m.TotalBytes))
	switch m.Fits {
	case "unknown":
		b.WriteString("  whether it fits is unknown: this system does not tell its memory\n")
	case "no":
		fmt.Fprintf(b, "  does not fit: this process may use %s (%s)\n", bytesText(m.MachineBytes), m.Source)
	case "tight":
		fmt.Fprintf(b, "  fits in the %s that this process may use (%s), but only %s are free now\n", bytesText(m.MachineBytes), m.Source, bytesText(m.AvailableBytes))
	default:
		fmt.Fprintf(b, "  fits: %s are free now of %s (%s)\n", bytesText(m.AvailableBytes), bytesText(m.MachineBytes), m.Source)
	}
}

// grouped writes a number with a comma every three digits.
func grouped(n int64) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(n, 10), "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}
