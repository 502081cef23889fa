package main

import (
	"encoding/json"
	"io"
	"math"

	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/machine"
)

// report is the object of "fresco run --json". docs/run.schema.json describes it.
type report struct {
	Text         string         `json:"text"`
	IDs          []int32        `json:"ids"`
	FinishReason string         `json:"finish_reason"`
	Seed         uint64         `json:"seed"`
	Mode         string         `json:"mode"`
	Model        string         `json:"model"`
	Arithmetic   string         `json:"arithmetic"`
	CPU          string         `json:"cpu"`
	Attempts     int            `json:"attempts"`
	Warnings     []string       `json:"warnings"`
	Canvases     []canvasReport `json:"canvases"`
	Usage        usageReport    `json:"usage"`
	Timing       timingReport   `json:"timing"`
}

type canvasReport struct {
	Attempt  int      `json:"attempt"` // from 1
	Index    int      `json:"index"`
	Length   int      `json:"length"`
	Steps    int      `json:"steps"`
	Stop     string   `json:"stop"`
	Accepted int      `json:"accepted"`
	Entropy  *float32 `json:"entropy"` // null when it was not finite
	Kept     int      `json:"kept"`
	End      bool     `json:"end"`
	Redraw   bool     `json:"redraw"`
	Guard    string   `json:"guard"`
}

type usageReport struct {
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
	ComputedTokens   int    `json:"computed_tokens"`
	Forwards         int    `json:"forwards"`
	PeakMemoryBytes  *int64 `json:"peak_memory_bytes"` // null where the system does not tell
}

type timingReport struct {
	PrefillSeconds float64 `json:"prefill_seconds"`
	DecodeSeconds  float64 `json:"decode_seconds"`
}

func (o *outcome) report(info fresco.Info) report {
	r := report{
		Text: o.Text, IDs: append([]int32{}, o.IDs...), FinishReason: string(o.Reason),
		Seed: o.Seed, Mode: string(o.Mode), Model: info.Name, Arithmetic: info.Arithmetic,
		CPU: info.KernelClass, Attempts: o.attempts,
		Warnings: append([]string{}, info.Notes...),
		Canvases: []canvasReport{},
		Usage: usageReport{
			PromptTokens: o.Usage.PromptTokens, CompletionTokens: o.Usage.CompletionTokens,
			ComputedTokens: o.Usage.ComputedTokens, Forwards: o.Usage.Forwards,
		},
		Timing: timingReport{o.Timing.Prefill.Seconds(), o.Timing.Decode.Seconds()},
	}
	if o.warning != "" {
		r.Warnings = append(r.Warnings, o.warning)
	}
	r.Warnings = append(r.Warnings, o.Warnings...)
	if o.Guard != "" {
		r.Warnings = append(r.Warnings, "guard: "+o.Guard)
	}
	if verdict := o.verdict(); verdict != "" && o.problem != "" {
		r.Warnings = append(r.Warnings, verdict)
	}
	if peak, ok := machine.PeakMemory(); ok {
		r.Usage.PeakMemoryBytes = &peak
	}
	for _, canvas := range o.canvases {
		c := canvasReport{
			Attempt: canvas.attempt + 1, Index: canvas.Index, Length: canvas.Length,
			Steps: canvas.Steps, Stop: string(canvas.Stop), Accepted: canvas.Accepted,
			Kept: canvas.Kept, End: canvas.End, Redraw: canvas.Redraw, Guard: canvas.Guard,
		}
		if e := float64(canvas.Entropy); !math.IsNaN(e) && !math.IsInf(e, 0) {
			c.Entropy = &canvas.Entropy
		}
		r.Canvases = append(r.Canvases, c)
	}
	return r
}

// jsonPrinter prints the report at the end, in one line.
type jsonPrinter struct{ c *console }

func (p *jsonPrinter) begin(bool) error                  { return nil }
func (p *jsonPrinter) drafts() bool                      { return false }
func (p *jsonPrinter) draft(*fresco.Draft) error         { return nil }
func (p *jsonPrinter) committed(*fresco.Committed) error { return nil }

func (p *jsonPrinter) redraw(o *outcome) error {
	p.c.redrawing(o)
	return nil
}

func (p *jsonPrinter) end(o *outcome) error {
	line, err := json.Marshal(o.report(p.c.info))
	if err != nil {
		return err
	}
	if _, err := p.c.out.Write(append(line, '\n')); err != nil {
		return err
	}
	p.c.closing(o)
	return nil
}

// writeJSON writes a value as one indented object and a newline, in one piece.
func writeJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
