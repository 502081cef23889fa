package main

import (
	"context"
	"fmt"

	"github.com/frescolm/fresco/internal/convert"
)

// synthCommand is "fresco synth".
type synthCommand struct {
	Size    choice `of:"26b,4b,tiny" required:"" placeholder:"NAME" help:"Shapes: 26b, 4b or tiny."`
	Type    choice `of:"q4_0,q4_k_m,q8_0,bf16" required:"" placeholder:"NAME" help:"Format of the weights: q4_0, q4_k_m or q8_0, a GGUF file; bf16, a folder."`
	Out     string `required:"" placeholder:"PATH" help:"The file or folder to write."`
	Seed    seed   `placeholder:"N" help:"Which random weights. Default: 0."`
	Force   bool   `help:"Overwrite what is at PATH."`
	Threads whole  `max:"1024" placeholder:"N" help:"Threads. Default: the physical cores."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
	Quiet   bool   `short:"q" help:"No progress."`
}

// Help is what "fresco synth --help" says after the flags.
func (synthCommand) Help() string {
	return `A checkpoint without sense and without a tokenizer, to measure speed and memory with: 26b has the shapes of DiffusionGemma 26B-A4B, 4b its layers with 32 experts, 15 of them, tiny runs in a second. The same seed gives the same weights.

Examples:

    fresco synth --size tiny --type q8_0 --out tiny.gguf
    fresco synth --size 26b --type q4_0 --out 26b.gguf --seed 1
    fresco run tiny.gguf --ids 2,17,5 --max-tokens 32`
}

// Run makes the checkpoint.
func (s *synthCommand) Run(ctx context.Context, c *console) error {
	c.quiet = s.Quiet
	var number uint64
	if s.Seed.value != nil {
		number = *s.Seed.value
	}
	report, err := convert.Synthesize(ctx, s.Out, convert.SynthOptions{
		Size: string(s.Size), Type: string(s.Type), Seed: number, Force: s.Force, Threads: s.Threads.n, Progress: c.writing(),
	})
	c.settle()
	if err != nil {
		return err
	}
	if s.JSON {
		return writeJSON(c.out, report)
	}
	_, err = fmt.Fprintf(c.out, "%s: %s parameters in %d tensors, %s bytes, %.1f s\n",
		report.Output, grouped(report.Parameters), report.Tensors, grouped(report.Bytes), report.Seconds)
	return err
}
