package bench

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes a table for each class: a row for each operation and format, with
// the rates of all thread counts and the share of the ceiling on most.
func (r *KernelReport) WriteText(w io.Writer) error {
	var b strings.Builder
	threads := ThreadCounts(r.Threads)
	for i, c := range r.Cells {
		if i == 0 || r.firstOf(c.Class, i) {
			r.writeClass(&b, c.Class, threads)
		}
	}
	if len(r.Slow) > 0 {
		fmt.Fprintf(&b, "below %.0f %% of the speed with %s weights:\n", 100*slowBelow, formats[0])
		for _, s := range r.Slow {
			fmt.Fprintf(&b, "  %s, %s, %s: %.0f %%; %s\n", s.Class, s.Operation, s.Format, 100*s.Relative, s.Reason)
		}
		b.WriteString("\n")
	}
	r.Calibration.write(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// firstOf reports whether no cell before number i is of the class.
func (r *KernelReport) firstOf(class string, i int) bool {
	for _, c := range r.Cells[:i] {
		if c.Class == class {
			return false
		}
	}
	return true
}

func (r *KernelReport) writeClass(b *strings.Builder, class string, threads []int) {
	clock, _ := r.Calibration.ceilings(class, r.Threads)
	fmt.Fprintf(b, "%s, %s arithmetic, %s: peak %s, memory %s\n", class, r.Arithmetic, threadText(r.Threads), flops(clock.peak), bytesRate(clock.bandwidth))
	fmt.Fprintf(b, "%-20s %-5s %-30s %10s %10s", "operation", "", "shape", "ms", "CPU ms")
	for _, n := range threads {
		fmt.Fprintf(b, " %9s", fmt.Sprintf("GF/s ×%d", n))
	}
	fmt.Fprintf(b, " %9s  %-18s %s\n", "GB/s", "share of ceiling", "by CPU time")
	for _, c := range r.Cells {
		if c.Class != class || c.Threads != r.Threads {
			continue
		}
		fmt.Fprintf(b, "%-20s %-5s %-30s %10.3f %10.3f", c.Operation, c.Format, c.Shape, 1e3*c.Seconds, 1e3*c.CPUSeconds)
		for _, n := range threads {
			fmt.Fprintf(b, " %9.1f", r.rate(c, n))
		}
		fmt.Fprintf(b, " %9.1f  %-18s %9.0f %%\n", c.BytesPerSecond/1e9, c.Work.shareText(), 100*c.CPUShare)
	}
	b.WriteString("\n")
}

// rate is that of the same cell on another thread count, in 10⁹ operations a second.
func (r *KernelReport) rate(like Cell, threads int) float64 {
	for _, c := range r.Cells {
		if c.key() == like.key() && c.Threads == threads {
			return c.OperationsPerSecond / 1e9
		}
	}
	return 0
}

// WriteText writes a table of the passes, and one of the parts of each on all
// threads.
func (r *StepReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s arithmetic, %s, prompt of %d tokens, canvas of %d\n\n",
		r.Model, r.Class, r.Arithmetic, threadText(r.Threads), r.Prompt, r.Canvas)
	fmt.Fprintf(&b, "%-34s %7s %7s %10s %10s %9s %10s %8s  %-18s %s\n", "pass", "threads", "tokens", "ms", "CPU ms", "GF/s", "weights", "scaling", "share of ceiling", "by CPU time")
	for _, p := range r.Passes {
		fmt.Fprintf(&b, "%-34s %7d %7d %10.3f %10.3f %9.1f %10s %8.2f  %-18s %9.0f %%\n",
			p.Name, p.Threads, p.Tokens, 1e3*p.Seconds, 1e3*p.CPUSeconds, p.OperationsPerSecond/1e9, bytesText(p.Bytes), p.Scaling, p.Work.shareText(), 100*p.CPUShare)
	}
	for _, p := range r.Passes {
		if p.Threads != r.Threads {
			continue
		}
		fmt.Fprintf(&b, "\n%s, %s, by part:\n", p.Name, threadText(p.Threads))
		for _, part := range p.Parts {
			fmt.Fprintf(&b, "  %-22s %10.3f ms %5.1f %%", part.Name, 1e3*part.Seconds, 100*part.Fraction)
			if part.Operations > 0 {
				weights := ""
				if part.Bytes > 0 {
					weights = bytesText(part.Bytes)
				}
				fmt.Fprintf(&b, " %9.1f GF/s %10s  %s", part.OperationsPerSecond/1e9, weights, part.Work.shareText())
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	r.Calibration.write(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// write tells what both rounds of the calibration found.
func (c *Calibration) write(b *strings.Builder) {
	b.WriteString("calibration, before and after:\n")
	for _, r := range c.Peaks {
		fmt.Fprintf(b, "  %-22s %16s %16s%s\n", r, flops(r.Before), flops(r.After), driftText(r))
	}
	for _, r := range c.Bandwidths {
		fmt.Fprintf(b, "  %-22s %16s %16s%s\n", r, bytesRate(r.Before), bytesRate(r.After), driftText(r))
	}
	if c.Drifted {
		fmt.Fprintf(b, "the calibration drifted by %.0f %%: something else used the machine; take these figures with care\n", 100*c.Drift)
	}
}

func driftText(r Rate) string {
	if r.drift() <= MaxDrift {
		return ""
	}
	return fmt.Sprintf("  drifted by %.0f %%", 100*r.drift())
}

func (w Work) shareText() string {
	return fmt.Sprintf("%3.0f %% of %s", 100*w.Share, w.Bound)
}

func threadText(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

func flops(perSecond float64) string { return fmt.Sprintf("%.1f GFLOP/s", perSecond/1e9) }

func bytesRate(perSecond float64) string { return fmt.Sprintf("%.1f GB/s", perSecond/1e9) }

// bytesText writes bytes with a decimal unit.
func bytesText(n float64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.1f MB", n/1e6)
	}
	return fmt.Sprintf("%.2f GB", n/1e9)
}
