package eval

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/engine"
)

// runes encodes one id a character.
func runes(text string) []int32 {
	var ids []int32
	for _, r := range text {
		ids = append(ids, r)
	}
	return ids
}

// somePuzzles are two of one bucket.
func somePuzzles() []Puzzle {
	p := Puzzle{Bucket: "46-55", Clues: 48, Prompt: heading + grid + "\n", Grid: grid, Solution: solution}
	q := p
	q.ID = 1
	return []Puzzle{p, q}
}

func TestSudoku(t *testing.T) {
	wrong := "757" + solution[3:]
	run := func(_ context.Context, p Puzzle, seed uint64, mode engine.Mode) (Outcome, error) {
		o := Outcome{Text: p.Solution, Finish: engine.FinishStop, Took: 500 * time.Millisecond}
		switch {
		case mode == engine.Autoregressive:
			o.Steps, o.Text = 90, ""
		case p.ID == 1 && seed == 2:
			o.Steps, o.Text = 48, wrong
			o.Stops = []engine.CanvasStop{engine.StopCap}
			o.Drafts = [][]int32{runes(p.Solution), runes(wrong)}
		default:
			o.Steps, o.Stops = 3, []engine.CanvasStop{engine.StopConverged}
			o.Drafts = [][]int32{runes(p.Grid), runes(p.Solution)}
		}
		return o, nil
	}
	var done []int
	report, err := Sudoku(t.Context(), Plan{
		Puzzles: somePuzzles(),
		Arms:    []Arm{{engine.Diffusion, []uint64{1, 2}}, {engine.Autoregressive, []uint64{1}}},
		Run:     run,
		Encode:  runes,
		Progress: func(p Progress) {
			if p.Total != 6 {
				t.Errorf("total %d", p.Total)
			}
			done = append(done, p.Done)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6}, done); diff != "" {
		t.Error(diff)
	}
	solved := func(puzzle int, seed uint64) Result {
		return Result{
			Bucket: "46-55", Puzzle: puzzle, Clues: 48, Mode: engine.Diffusion, Seed: seed, Exact: true, Cells: 81, Steps: 3,
			Finish: engine.FinishStop, Stops: []engine.CanvasStop{engine.StopConverged},
			Rewrites: &Rewrites{Changed: 33, WrongToRight: 33}, Seconds: 0.5,
		}
	}
	empty := func(puzzle int) Result {
		return Result{
			Bucket: "46-55", Puzzle: puzzle, Clues: 48, Mode: engine.Autoregressive, Seed: 1,
			Problem: "the answer is empty", Steps: 90, Finish: engine.FinishStop, Seconds: 0.5,
		}
	}
	missed := solved(1, 2)
	missed.Exact, missed.Problem, missed.Cells, missed.Steps = false, "two 7s in row 1", 80, 48
	missed.Stops = []engine.CanvasStop{engine.StopCap}
	missed.Rewrites = &Rewrites{Changed: 1, RightToWrong: 1}
	want := Report{Results: []Result{solved(0, 1), solved(0, 2), empty(0), solved(1, 1), missed, empty(1)}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
}

func TestSudokuStops(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		name string
		run  Run
		want error
		text string
	}{
		{"error", func(_ context.Context, p Puzzle, _ uint64, _ engine.Mode) (Outcome, error) {
			if p.ID == 1 {
				return Outcome{}, broken
			}
			return Outcome{}, nil
		}, broken, "eval: bucket 46-55: puzzle 1: mode diffusion: seed 1: broken"},
		{"cancelled answer", func(_ context.Context, p Puzzle, _ uint64, _ engine.Mode) (Outcome, error) {
			if p.ID == 1 {
				return Outcome{Finish: engine.FinishCancelled}, nil
			}
			return Outcome{}, nil
		}, context.Canceled, "puzzle 1"},
		{"cancelled between answers", func(context.Context, Puzzle, uint64, engine.Mode) (Outcome, error) {
			cancel()
			return Outcome{}, nil
		}, context.Canceled, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := Sudoku(ctx, Plan{Puzzles: somePuzzles(), Arms: []Arm{{engine.Diffusion, []uint64{1}}}, Run: c.run})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v", err)
			}
			if len(report.Results) != 1 {
				t.Errorf("%d results kept, want 1", len(report.Results))
			}
		})
	}
}
