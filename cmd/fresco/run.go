package main

import (
	"context"

	"github.com/alecthomas/kong"
	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/embedded"
)

// runCommand is "fresco run".
type runCommand struct {
	Model  *string `arg:"" optional:"" help:"An embedded model (see \"fresco list\"), a checkpoint folder or a GGUF file. Default: sudoku."`
	Prompt *string `arg:"" optional:"" help:"The text to answer; \"-\" reads it from standard input. Default for an embedded model: its example, or the puzzle that --infill gives."`

	Mode      choice   `of:"diffusion,ar" placeholder:"MODE" group:"answer" help:"diffusion refines canvases; ar decodes the same weights left to right. Default: diffusion where the checkpoint can."`
	Seed      seed     `placeholder:"N" group:"answer" help:"Address of all random draws. Default: fresh and random; the line at the end tells it."`
	MaxTokens whole    `placeholder:"N" group:"answer" help:"End after exactly N tokens. Default: the end token or the context limit."`
	Stop      []string `sep:"none" placeholder:"TEXT" group:"answer" help:"End before this text; may be given again."`
	Raw       bool     `group:"answer" help:"Use no prompt form: the text alone, after BOS where the tokenizer adds one."`
	IDs       ids      `name:"ids" placeholder:"5,17,…" group:"answer" help:"Token ids instead of PROMPT, exactly as they are. Implies --raw."`
	Infill    string   `placeholder:"FILE|-" group:"answer" help:"Start the canvas from this text and keep its tokens. A hole is ⟦n⟧, n free positions, or ⟦⟧, one; ⟦⟦ and ⟧⟧ are the brackets themselves."`

	Steps        whole          `placeholder:"N" group:"diffusion" help:"max_denoising_steps: the step cap and the length of the temperature schedule."`
	MaxSteps     whole          `placeholder:"N" group:"diffusion" help:"Stop a canvas after N steps without stretching the schedule."`
	TMin         fresco.Setting `name:"t-min" min:"0" off:"" placeholder:"T|off" group:"diffusion" help:"Temperature at the end of the schedule; off uses the logits as they are."`
	TMax         fresco.Setting `name:"t-max" above:"0" off:"" placeholder:"T|off" group:"diffusion" help:"Temperature at the beginning of the schedule; off uses the logits as they are."`
	EntropyBound fresco.Setting `above:"0" placeholder:"NATS" group:"diffusion" help:"Accept the surest positions of a step up to this sum of entropies."`
	Stability    fresco.Setting `min:"0" whole:"" off:"" placeholder:"N|off" group:"diffusion" help:"Earlier best guesses that must equal the current one for an early stop; off runs to the cap."`
	Confidence   fresco.Setting `above:"0" off:"" placeholder:"NATS|off" group:"diffusion" help:"Mean entropy below which a canvas may stop early; off runs to the cap."`
	Canvas       whole          `placeholder:"N" group:"diffusion" help:"Canvas length in tokens, at most the checkpoint's."`
	NoGuards     bool           `group:"answer" help:"Let empty, padded, undecided and non-finite canvases pass."`
	GuardEntropy fresco.Setting `above:"0" off:"" placeholder:"NATS|off" group:"diffusion" help:"Mean entropy above which a canvas at its step cap is undecided. Default: 1, off when the cap is lowered."`

	Temperature fresco.Setting `min:"0" placeholder:"T" group:"ar" help:"Temperature of the draw; 0, the default, takes the likeliest token. In diffusion mode only 0: argmax candidates."`
	TopK        whole          `placeholder:"N" group:"ar" help:"Draw among the N likeliest tokens."`
	TopP        fresco.Setting `above:"0" max:"1" placeholder:"P" group:"ar" help:"Draw among the likeliest tokens that reach probability P."`

	Threads      whole  `max:"1024" placeholder:"N" group:"machine" help:"Compute threads, 1 … 1024. Default: physical cores within the limits of affinity and cgroup."`
	PrefillChunk whole  `placeholder:"N" group:"machine" help:"Most prompt tokens in one pass. Default: all."`
	Precision    choice `of:"exact,bf16" placeholder:"NAME" group:"machine" help:"exact computes in fp32; bf16 rounds where the official implementation does. Default: exact."`

	JSON   bool `name:"json" group:"output" help:"Print one JSON object instead of the text."`
	Quiet  bool `short:"q" group:"output" help:"Print the answer and errors, nothing else; no live view."`
	NoLive bool `group:"output" help:"Do not draw the canvas on a terminal."`

	// implied is true when the infill text was taken for the prompt.
	implied bool
}

// Help is what "fresco run --help" says after the flags.
func (runCommand) Help() string {
	return `Examples:

    fresco run                                     the example puzzle of the embedded model
    fresco run sudoku "$(cat puzzle.txt)"          a puzzle of your own; the answer is checked
    fresco run sudoku - < puzzle.txt               the same from standard input
    fresco run sudoku --seed 7 --json              an answer that can be repeated, as JSON
    sed 's/\./⟦⟧/g' puzzle.txt | fresco run --infill -
                                                   start from a canvas with the givens in it
    fresco run ./checkpoint "Why is the sky blue?" a checkpoint folder
    fresco run model.gguf "Why is the sky blue?"   a GGUF file
    fresco run ./checkpoint --mode ar "Tell me …"  left to right
    fresco run ./tiny --ids 2,17,33                token ids in, on any checkpoint

When standard output is no terminal it gets the answer alone, and standard error one line about how it came about.`
}

// Run answers a prompt.
func (r *runCommand) Run(c *console, ctx context.Context, _ *kong.Kong) error {
	c.quiet = r.Quiet
	options, err := r.options(ctx, c)
	if err != nil {
		return err
	}
	m, err := r.open(c)
	if err != nil {
		return err
	}
	run := &running{c: c, ctx: ctx, model: m, options: options}
	err = r.answer(run)
	if closeErr := m.Close(); err == nil {
		err = closeErr
	}
	return err
}

// answer runs the attempts and prints what they came to.
func (r *runCommand) answer(run *running) error {
	if _, isPuzzle := run.model.Check(run.options.Prompt, ""); r.implied && !isPuzzle {
		return usage("--infill without a PROMPT must hold the givens of a whole grid, which then is the puzzle; give the PROMPT, or one hole for each empty cell")
	}
	if err := run.model.Validate(run.options); err != nil {
		return err
	}
	run.c.info = run.model.Info()
	for _, note := range run.c.info.Notes {
		run.c.note("note: %s", note)
	}
	if err := run.assess(); err != nil {
		return err
	}
	run.printer = r.printer(run)
	outcome, err := run.attempts()
	if err != nil {
		return err
	}
	return outcome.conclude(run.c)
}

// printer chooses how the answer is shown.
func (r *runCommand) printer(run *running) printer {
	switch {
	case r.JSON:
		return &jsonPrinter{c: run.c}
	case r.NoLive, r.Quiet, !run.c.out.drawable(), run.mode() != fresco.Diffusion:
		return &textPrinter{out: run.c.out, ids: !run.c.info.HasTokenizer, c: run.c}
	}
	return newLivePrinter(run)
}

func (r *runCommand) open(c *console) (*fresco.Model, error) {
	m, err := fresco.Open(*r.Model, &fresco.OpenOptions{
		Arithmetic: string(r.Precision),
		Threads:    r.Threads.n,
		Progress:   c.loading(),
	})
	c.settle()
	return m, err
}

// example returns the prompt that an embedded model is shown with.
func example(name string) (string, bool) {
	m, ok := embedded.Find(name)
	return m.Example, ok && m.Example != ""
}
