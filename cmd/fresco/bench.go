package main

import (
	"context"
	"errors"
	"time"

	"github.com/frescolm/fresco/internal/bench"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/liveview"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/pool"
)

// benchCommand is "fresco bench".
type benchCommand struct {
	Kernels benchKernels `cmd:"" help:"Kernels by class and weight format, beside the ceiling of this machine."`
	Step    benchStep    `cmd:"" help:"Prefill, denoising step and one token of a model, by part."`
}

// benchKernels is "fresco bench kernels".
type benchKernels struct {
	Class     string `placeholder:"NAME" help:"Measure one kernel class. Default: all that are available."`
	Threads   whole  `max:"1024" placeholder:"N" help:"Largest number of threads; 1, 2, 4 … below it are measured as well. Default: physical cores within the limits of the cgroup."`
	Seconds   whole  `max:"86400" placeholder:"N" help:"About how long to measure, besides the calibration. Default: 25."`
	Precision choice `of:"exact,bf16" placeholder:"NAME" help:"exact or bf16. Default: exact."`
	JSON      bool   `name:"json" help:"Print one JSON object."`
	Quiet     bool   `short:"q" help:"Show no progress."`
}

// Help is what "fresco bench kernels --help" says after the flags.
func (benchKernels) Help() string {
	return `Shapes are those of the full-size model, the head and the experts a part of it; the generic class takes less of each. Peak and memory bandwidth are measured before and after; when they differ by more than 10 %, the table says so.

Examples:

    fresco bench kernels
    fresco bench kernels --class avx2 --threads 1 --seconds 10
    fresco bench kernels --json > kernels.json`
}

const (
	defaultKernelSeconds = 25
	defaultStepSeconds   = 10
)

// Run measures and prints the table.
func (k *benchKernels) Run(c *console, ctx context.Context) error {
	c.quiet = k.Quiet
	o := bench.KernelOptions{
		Threads: threadsOr(k.Threads), Budget: secondsOr(k.Seconds, defaultKernelSeconds), Progress: measuring(c),
	}
	if k.Precision == "bf16" {
		o.Round = kernel.BF16
	}
	if k.Class != "" {
		if _, err := kernel.Choose(k.Class); err != nil {
			return err
		}
		o.Classes = []string{k.Class}
	} else {
		for _, class := range kernel.Classes() {
			if class.Available {
				o.Classes = append(o.Classes, class.Name)
			}
		}
	}
	r, err := bench.Kernels(ctx, o)
	c.settle()
	if err != nil {
		return err
	}
	if k.JSON {
		return writeJSON(c.out, r)
	}
	return r.WriteText(c.out)
}

// benchStep is "fresco bench step".
type benchStep struct {
	Model string `arg:"" help:"An embedded model or a checkpoint folder."`

	Prompt    whole  `placeholder:"N" help:"Committed tokens. Default: 64, or what fits."`
	Canvas    whole  `placeholder:"N" help:"Canvas length. Default: the checkpoint's."`
	Class     string `placeholder:"NAME" help:"Kernel class. Default: the best that is available."`
	Threads   whole  `max:"1024" placeholder:"N" help:"Largest number of threads; 1, 2, 4 … below it are measured as well. Default: physical cores within the limits of the cgroup."`
	Seconds   whole  `max:"86400" placeholder:"N" help:"About how long to measure, besides loading and calibration. Default: 10."`
	Precision choice `of:"exact,bf16" placeholder:"NAME" help:"exact or bf16. Default: exact."`
	JSON      bool   `name:"json" help:"Print one JSON object."`
	Quiet     bool   `short:"q" help:"Show no progress."`
}

// Help is what "fresco bench step --help" says after the flags.
func (benchStep) Help() string {
	return `Measured are the prefill of the prompt in one pass, the first denoising step of a canvas, a step with self-conditioning, and the pass of one token with its draw. The tokens come from all over the vocabulary; what they mean does not matter to the time.

Examples:

    fresco bench step sudoku
    fresco bench step ./checkpoint --prompt 1024 --seconds 60
    fresco bench step ./checkpoint --json > step.json`
}

// Run measures and prints the tables.
func (s *benchStep) Run(c *console, ctx context.Context) error {
	c.quiet = s.Quiet
	r, err := bench.Step(ctx, s.Model, bench.StepOptions{
		Open: func(threads int) (model.Backend, error) {
			m, err := models.Open(s.Model, models.Options{Arithmetic: string(s.Precision), KernelClass: s.Class, Threads: threads})
			if err != nil {
				return nil, err
			}
			return m.Backend, nil
		},
		Threads: threadsOr(s.Threads), Prompt: s.Prompt.n, Canvas: s.Canvas.n,
		Budget: secondsOr(s.Seconds, defaultStepSeconds), Progress: measuring(c),
	})
	c.settle()
	var size *bench.SizeError
	if errors.As(err, &size) {
		return usage("--prompt, --canvas: %v", size)
	}
	if err != nil {
		return err
	}
	if s.JSON {
		return writeJSON(c.out, r)
	}
	if c.out.terminal { // which gets no control sequences from a name
		r.Model = liveview.Harmless(r.Model)
	}
	return r.WriteText(c.out)
}

func threadsOr(n whole) int {
	if n.n == 0 {
		return pool.Cores()
	}
	return n.n
}

func secondsOr(n whole, otherwise int) time.Duration {
	if n.n != 0 {
		otherwise = n.n
	}
	return time.Duration(otherwise) * time.Second
}

// measuring shows what is being measured.
func measuring(c *console) func(done, all int, what string) {
	return func(done, all int, what string) { c.progress("%d of %d · %s", done, all, what) }
}
