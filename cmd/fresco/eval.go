package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/embedded"
	"github.com/frescolm/fresco/internal/eval"
)

// evalCommand is "fresco eval".
type evalCommand struct {
	Sudoku evalSudoku `cmd:"" help:"Sudoku puzzles with one solution, checked by the rules."`
}

// evalSudoku is "fresco eval sudoku".
type evalSudoku struct {
	Model     string   `default:"sudoku" placeholder:"MODEL" help:"Embedded model, checkpoint folder or GGUF file. Default: sudoku."`
	Buckets   []string `placeholder:"LO-HI" help:"Ranges of clues, separated by commas. Default: 46-55,40-45; with --file all that it holds."`
	Puzzles   whole    `placeholder:"N" max:"100000" help:"Puzzles a bucket. Default: 20; with --file those that carry an official output."`
	Seeds     whole    `placeholder:"N" max:"1000" help:"Seeds a puzzle. Default: 1."`
	FirstSeed seed     `placeholder:"N" help:"The first seed; the others follow it. Default: 0."`
	Series    seed     `placeholder:"N" help:"Which puzzles are generated. Default: 1."`
	Mode      choice   `of:"diffusion,ar" placeholder:"MODE" help:"Measure one mode only."`
	File      string   `placeholder:"FILE" help:"Take the puzzles of an eval.json instead of generating them, and compare with the official outputs recorded there."`
	Threads   whole    `max:"1024" placeholder:"N" help:"Compute threads, 1 … 1024. Default: physical cores within the limits of affinity and cgroup."`
	Precision choice   `of:"exact,bf16" placeholder:"NAME" help:"exact or bf16. Default: exact."`
	JSON      bool     `name:"json" help:"Print one JSON object, every attempt included."`
	Quiet     bool     `short:"q" help:"Show no progress."`
}

// Help is what "fresco eval sudoku --help" says after the flags.
func (evalSudoku) Help() string {
	return `The table sets diffusion and ar side by side: puzzles solved by the rules, right cells, steps, why canvases stopped, how cells of the answer changed between steps, seconds.

Examples:

    fresco eval sudoku
    fresco eval sudoku --buckets 46-55 --puzzles 500 --mode diffusion
    fresco eval sudoku --file eval.json --seeds 10 --json > report.json`
}

const (
	defaultPuzzles = 20
	defaultSeries  = 1
)

// Run measures and prints the table. The exit code tells whether the work was
// done, not whether the model is any good.
func (e *evalSudoku) Run(c *console, ctx context.Context) error {
	c.quiet = e.Quiet
	puzzles, err := e.puzzles()
	if err != nil {
		return err
	}
	m, err := fresco.Open(e.Model, &fresco.OpenOptions{Arithmetic: string(e.Precision), Threads: e.Threads.n, Progress: c.loading()})
	c.settle()
	if err != nil {
		return err
	}
	err = e.measure(ctx, c, m, puzzles)
	if closeErr := m.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (e *evalSudoku) measure(ctx context.Context, c *console, m *fresco.Model, puzzles []eval.Puzzle) error {
	info := m.Info()
	if !info.HasTokenizer {
		return usage("--model: %s has no tokenizer, it cannot read a puzzle", e.Model)
	}
	plan := eval.Plan{
		Puzzles: puzzles, Arms: e.arms(info), Encode: m.Encode,
		Run: func(ctx context.Context, p eval.Puzzle, seed uint64, mode fresco.Mode) (eval.Outcome, error) {
			return eval.Collect(m.Generate(ctx, fresco.Options{
				Prompt: p.Prompt, Raw: true, Seed: &seed, Mode: mode, Drafts: mode == fresco.Diffusion,
				NoGuards: true, // the model is measured, not what saves a bad canvas
			}))
		},
		Progress: e.progress(c),
	}
	report, err := eval.Sudoku(ctx, plan)
	c.settle()
	setup := e.setup(info, plan)
	if errors.Is(err, context.Canceled) {
		err, setup.Interrupted = errInterrupted, true
		each := setup.PlannedAttempts / setup.PlannedPuzzles
		fmt.Fprintf(c.err, "interrupted: %d of %s, %d of %s\n",
			len(report.Results)/each, plural(setup.PlannedPuzzles, "puzzle", "puzzles"),
			len(report.Results), plural(setup.PlannedAttempts, "attempt", "attempts"))
	}
	if err != nil && len(report.Results) == 0 {
		return err
	}
	// What was measured is printed also when there is nothing to compare it with.
	shares, shareErr := e.shares(len(puzzles))
	document := eval.NewDocument(setup, report, puzzles, shares)
	var writeErr error
	if e.JSON {
		writeErr = document.WriteJSON(c.out)
	} else {
		writeErr = document.WriteText(c.out)
	}
	return errors.Join(err, shareErr, writeErr)
}

// setup says what is measured.
func (e *evalSudoku) setup(info fresco.Info, plan eval.Plan) eval.Setup {
	version, _ := build()
	s := eval.Setup{
		Model: info.Name, Version: version, File: e.File,
		Arithmetic: info.Arithmetic, CPU: info.KernelClass, Threads: info.Threads,
		PlannedPuzzles: len(plan.Puzzles), PlannedAttempts: plan.Attempts(),
	}
	if e.File == "" {
		series := e.series()
		s.Series = &series
	}
	return s
}

func (e *evalSudoku) series() uint64 {
	if e.Series.value != nil {
		return *e.Series.value
	}
	return defaultSeries
}

// puzzles loads or generates what is to be solved.
func (e *evalSudoku) puzzles() ([]eval.Puzzle, error) {
	if e.File != "" {
		return e.filePuzzles()
	}
	if len(e.Buckets) == 0 {
		e.Buckets = []string{"46-55", "40-45"}
	}
	var buckets []eval.Bucket
	for _, text := range e.Buckets {
		b, err := eval.ParseBucket(text)
		if err != nil {
			return nil, usage("--buckets: %s", strings.TrimPrefix(err.Error(), "eval: "))
		}
		buckets = append(buckets, b)
	}
	n := e.Puzzles.n
	if n == 0 {
		n = defaultPuzzles
	}
	var puzzles []eval.Puzzle
	for _, b := range buckets {
		more, err := eval.GeneratePuzzles(b, n, e.series())
		if err != nil {
			return nil, usage("--buckets: %s", strings.TrimPrefix(err.Error(), "eval: "))
		}
		puzzles = append(puzzles, more...)
	}
	return puzzles, nil
}

// filePuzzles takes puzzles of the wanted buckets of a file: the first ones up to
// --puzzles, or all that carry an official output.
func (e *evalSudoku) filePuzzles() ([]eval.Puzzle, error) {
	all, err := eval.LoadPuzzles(e.File)
	if err != nil {
		return nil, fmt.Errorf("--file: %w", err)
	}
	taken := map[string]int{}
	var puzzles []eval.Puzzle
	for _, p := range all {
		wanted := len(e.Buckets) == 0 || slices.Contains(e.Buckets, p.Bucket)
		enough := e.Puzzles.set && taken[p.Bucket] == e.Puzzles.n
		if !wanted || enough || !e.Puzzles.set && p.Official == nil {
			continue
		}
		taken[p.Bucket]++
		puzzles = append(puzzles, p)
	}
	if len(puzzles) == 0 {
		return nil, usage("--file: %s holds no such puzzle", e.File)
	}
	return puzzles, nil
}

// arms lists the ways to decode. Greedy decoding does not depend on its seed.
func (e *evalSudoku) arms(info fresco.Info) []eval.Arm {
	first := uint64(0)
	if e.FirstSeed.value != nil {
		first = *e.FirstSeed.value
	}
	var seeds []uint64
	for i := range max(e.Seeds.n, 1) {
		seeds = append(seeds, first+uint64(i))
	}
	diffusion := eval.Arm{Mode: fresco.Diffusion, Seeds: seeds}
	ar := eval.Arm{Mode: fresco.Autoregressive, Seeds: seeds[:1]}
	switch {
	case e.Mode == choice(fresco.Diffusion):
		return []eval.Arm{diffusion}
	case e.Mode == choice(fresco.Autoregressive), info.CanvasLength == 0:
		return []eval.Arm{ar}
	}
	return []eval.Arm{diffusion, ar}
}

// comparable is the number of puzzles a bucket from which a share is worth
// comparing with a published one.
const comparable = 100

// shares are the published results of an embedded model on other puzzles.
func (e *evalSudoku) shares(puzzles int) ([]eval.Share, error) {
	m, ok := embedded.Find(e.Model)
	if !ok || e.File != "" || puzzles < comparable*len(e.Buckets) {
		return nil, nil
	}
	data, err := fs.ReadFile(m.FS, "measured.json")
	if err != nil {
		return nil, err
	}
	shares, err := eval.ParseShares(data)
	if err != nil {
		return nil, fmt.Errorf("%s: measured.json: %w", m.Name, err)
	}
	return shares, nil
}

func (e *evalSudoku) progress(c *console) func(eval.Progress) {
	begun, solved := time.Now(), map[fresco.Mode]int{}
	tried := map[fresco.Mode]int{}
	return func(p eval.Progress) {
		tried[p.Last.Mode]++
		if p.Last.Exact {
			solved[p.Last.Mode]++
		}
		text := fmt.Sprintf("%d of %d", p.Done, p.Total)
		for _, mode := range []fresco.Mode{fresco.Diffusion, fresco.Autoregressive} {
			if tried[mode] > 0 {
				text += fmt.Sprintf(" · %s solved %d of %d", mode, solved[mode], tried[mode])
			}
		}
		left := time.Since(begun) / time.Duration(p.Done) * time.Duration(p.Total-p.Done)
		c.progress("%s · %s left", text, left.Round(time.Second))
	}
}
