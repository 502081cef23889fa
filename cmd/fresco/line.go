package main

import (
	"fmt"
	"strings"

	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/machine"
)

// line is the one honest line about how an answer came about, in its parts.
func (o *outcome) line(info fresco.Info) []string {
	var parts []string
	if o.Mode == fresco.Diffusion {
		steps := 0
		for _, canvas := range o.canvases {
			steps += canvas.Steps
		}
		parts = append(parts, fmt.Sprintf("%s, %s (%s)", plural(len(o.canvases), "canvas", "canvases"),
			plural(steps, "denoising step", "denoising steps"), o.stops()))
	} else {
		parts = append(parts, fmt.Sprintf("%s (%s)", plural(o.Usage.Forwards, "pass", "passes"), o.Reason))
	}
	if o.attempts > 1 {
		parts = append(parts, fmt.Sprintf("%d attempts", o.attempts))
	}
	parts = append(parts,
		fmt.Sprintf("%d of %d tokens kept", o.Usage.CompletionTokens, o.Usage.ComputedTokens),
		fmt.Sprintf("prefill %.3f s", o.Timing.Prefill.Seconds()),
		fmt.Sprintf("decode %.3f s", o.Timing.Decode.Seconds()))
	if peak, ok := machine.PeakMemory(); ok {
		parts = append(parts, "peak memory "+bytesText(peak))
	} else {
		parts = append(parts, "peak memory unknown")
	}
	return append(parts, fmt.Sprintf("seed %d", o.Seed), info.Arithmetic, info.KernelClass)
}

// stops says why each canvas stopped; equal neighbours are counted.
func (o *outcome) stops() string {
	var parts []string
	last, times := "", 0
	flush := func() {
		switch {
		case times == 1:
			parts = append(parts, last)
		case times > 1:
			parts = append(parts, fmt.Sprintf("%d × %s", times, last))
		}
		times = 0
	}
	for _, canvas := range o.canvases {
		stop := string(canvas.Stop)
		if canvas.End {
			stop += " with end token"
		}
		if stop != last {
			flush()
		}
		last = stop
		times++
	}
	flush()
	return strings.Join(parts, ", ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
