package eval

import (
	"context"
	"fmt"

	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/sudoku"
)

// A Run answers one puzzle: Puzzle.Prompt as it is, after the token that the
// tokenizer puts before a text.
type Run func(ctx context.Context, p Puzzle, seed uint64, mode engine.Mode) (Outcome, error)

// An Arm is a way to decode, tried on every puzzle once for each seed. Greedy
// autoregressive decoding does not depend on its seed: one is enough.
type Arm struct {
	Mode  engine.Mode
	Seeds []uint64
}

// A Plan says what to measure.
type Plan struct {
	Puzzles []Puzzle
	Arms    []Arm
	Run     Run
	// Encode gives the tokens of a solution, without BOS, to find rewrites in
	// the drafts; nil leaves them uncounted.
	Encode func(text string) []int32
	// Progress, when not nil, is called after each attempt.
	Progress func(Progress)
}

// Attempts is how many results the whole plan gives.
func (plan Plan) Attempts() int {
	total := 0
	for _, arm := range plan.Arms {
		total += len(plan.Puzzles) * len(arm.Seeds)
	}
	return total
}

// Progress says how far a plan has come.
type Progress struct {
	Done, Total int
	// Last is the result just made.
	Last Result
}

// A Result is one attempt, scored.
type Result struct {
	Bucket string      `json:"bucket"`
	Puzzle int         `json:"puzzle"`
	Clues  int         `json:"clues"`
	Mode   engine.Mode `json:"mode"`
	Seed   uint64      `json:"seed"`
	// Exact: the answer solves the puzzle by the rules. Problem says what was
	// wrong first where it does not.
	Exact   bool   `json:"exact"`
	Problem string `json:"problem,omitempty"`
	// Cells counts the right cells, 0 … 81.
	Cells  int                 `json:"cells"`
	Steps  int                 `json:"steps"`
	Finish engine.FinishReason `json:"finish_reason"`
	Stops  []engine.CanvasStop `json:"stops,omitempty"`
	// Rewrites is nil where there were no drafts or no way to encode the
	// solution.
	Rewrites *Rewrites `json:"rewrites,omitempty"`
	Seconds  float64   `json:"seconds"`
}

// A Report holds the results of a plan in the order of its puzzles, arms and
// seeds.
type Report struct{ Results []Result }

// Sudoku runs a plan: each puzzle by every arm before the next puzzle, so that
// the arms share what the machine does meanwhile. When an attempt fails or the
// context ends, the report holds the results so far.
func Sudoku(ctx context.Context, plan Plan) (Report, error) {
	var report Report
	total := plan.Attempts()
	for _, p := range plan.Puzzles {
		for _, arm := range plan.Arms {
			for _, seed := range arm.Seeds {
				if err := ctx.Err(); err != nil {
					return report, err
				}
				o, err := plan.Run(ctx, p, seed, arm.Mode)
				if err != nil {
					return report, fmt.Errorf("eval: bucket %s: puzzle %d: mode %s: seed %d: %w", p.Bucket, p.ID, arm.Mode, seed, err)
				}
				if o.Finish == engine.FinishCancelled {
					return report, fmt.Errorf("eval: bucket %s: puzzle %d: mode %s: seed %d: %w", p.Bucket, p.ID, arm.Mode, seed, context.Canceled)
				}
				report.Results = append(report.Results, plan.score(p, seed, arm.Mode, o))
				if plan.Progress != nil {
					plan.Progress(Progress{Done: len(report.Results), Total: total, Last: report.Results[len(report.Results)-1]})
				}
			}
		}
	}
	return report, nil
}

// score turns an outcome into a result.
func (plan Plan) score(p Puzzle, seed uint64, mode engine.Mode, o Outcome) Result {
	verdict := sudoku.Check(p.Grid, o.Text)
	r := Result{
		Bucket: p.Bucket, Puzzle: p.ID, Clues: p.Clues, Mode: mode, Seed: seed,
		Exact: verdict.Solved, Problem: verdict.Problem, Cells: sudoku.RightCells(o.Text, p.Solution),
		Steps: o.Steps, Finish: o.Finish, Stops: o.Stops, Seconds: o.Took.Seconds(),
	}
	if plan.Encode != nil && len(o.Drafts) > 0 {
		rewrites := CountRewrites(o.Drafts, plan.Encode(p.Solution))
		r.Rewrites = &rewrites
	}
	return r
}
