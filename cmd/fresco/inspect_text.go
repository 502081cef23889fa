package main

import (
	"fmt"
	"strconv"
	"strings"
)

// text writes the report for a person.
func (r *inspectReport) text(every bool) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-21s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("model", "%s", r.Model)
	if r.Problem != "" {
		// A list of tensors follows further down.
		first, _, _ := strings.Cut(r.Problem, "\n")
		line("fresco run refuses it", "%s", strings.TrimSuffix(first, ":"))
	}
	if r.Architecture == "" {
		return b.String()
	}
	line("architecture", "%s", r.Architecture)
	for _, d := range r.Dimensions {
		line(d.Name, "%v", d.Value)
	}
	line("layer pattern", "%s", layerPattern(r.Layers))
	line("parameters", "%s", grouped(r.Parameters))
	line("active parameters", "%s a token, without embedding and head", grouped(r.Active))
	line("KV cache, "+r.Precision, "%s bytes a token in full layers, %s in sliding ones, within their window", grouped(r.KVBytes), grouped(r.SlidingBytes))
	switch {
	case r.TokenizerIDs > 0 && r.PromptForm != "":
		line("tokenizer", "%s ids; prompt form: %s", grouped(int64(r.TokenizerIDs)), r.PromptForm)
	case r.TokenizerIDs > 0:
		line("tokenizer", "%s ids; no prompt form that can be used", grouped(int64(r.TokenizerIDs)))
	case r.noTokenizer:
		line("tokenizer", "none; prompts are token ids (--ids)")
	default:
		line("tokenizer", "none that can be used")
	}
	for _, note := range r.Notes {
		line("note", "%s", note)
	}
	if r.Memory == nil {
		b.WriteString("\nThe tensors could not be read: neither they nor the memory of a run are listed.\n")
		return b.String()
	}
	r.tensorText(&b, every)
	r.differenceText(&b)
	r.memoryText(&b)
	return b.String()
}

// differenceText says how the tensors differ from what the architecture expects.
func (r *inspectReport) differenceText(b *strings.Builder) {
	b.WriteString("\n")
	section := func(name string, lines []string) {
		if len(lines) == 0 {
			fmt.Fprintf(b, "%-21s  none\n", name)
			return
		}
		for i, text := range lines {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(b, "%-21s  %s\n", name, text)
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
