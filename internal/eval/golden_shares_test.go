package eval_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/eval"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/gemma"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/tokenizer"
)

// TestGoldenOfficialShare solves the puzzles that carry an official output with one
// seed each, with FRESCO_TEST=full with ten, and asks that the exact share over all
// of them is not below the official one by more than two standard errors of the
// paired difference. The share of every bucket is printed beside it.
func TestGoldenOfficialShare(t *testing.T) {
	dir := fixtures.Dir(t, "sudoku")
	puzzles, err := eval.LoadPuzzles(filepath.Join(dir, "eval.json"))
	if err != nil {
		t.Fatal(err)
	}
	var chosen []eval.Puzzle
	for _, p := range puzzles {
		if p.Official != nil {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		t.Fatal("eval.json holds no official output")
	}
	seeds := []uint64{0}
	if fixtures.Full() {
		seeds = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	report := solveAll(t, dir, chosen, seeds, nil)
	pairs := report.AgainstOfficial(chosen)
	all := pairs[len(pairs)-1]
	if !all.Pass {
		t.Errorf("exact share %.3f, official %.3f on the same %d puzzles: below it by more than two standard errors", all.Ours, all.Official, all.Puzzles)
	}
}

// TestGoldenPublishedShare solves generated puzzles, 50 a bucket, with
// FRESCO_TEST=full 500, and asks that the exact share is not below the published one
// by more than 3 points plus two standard errors.
func TestGoldenPublishedShare(t *testing.T) {
	dir := fixtures.Dir(t, "sudoku")
	shares, err := eval.LoadShares(filepath.Join(fixtures.SudokuCheckpoint(dir), "measured.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no published shares: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := 50
	if fixtures.Full() {
		n = 500
	}
	var puzzles []eval.Puzzle
	for _, text := range []string{"46-55", "40-45"} {
		bucket, err := eval.ParseBucket(text)
		if err != nil {
			t.Fatal(err)
		}
		more, err := eval.GeneratePuzzles(bucket, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		puzzles = append(puzzles, more...)
	}
	report := solveAll(t, dir, puzzles, []uint64{0}, shares)
	compared := 0
	for _, c := range report.AgainstShares(shares) {
		compared++
		if !c.Pass {
			t.Errorf("%s clues: exact share %.3f, published %.3f", c.Bucket, c.Ours.Mean, c.Published)
		}
	}
	if compared == 0 {
		t.Error("measured.json holds no share of these buckets")
	}
}

// solveAll runs diffusion mode on puzzles and prints the table.
func solveAll(t *testing.T, dir string, puzzles []eval.Puzzle, seeds []uint64, shares []eval.Share) eval.Report {
	t.Helper()
	s := openSolver(t, fixtures.SudokuCheckpoint(dir))
	report, err := eval.Sudoku(t.Context(), eval.Plan{
		Puzzles: puzzles, Run: s.solve, Encode: s.encode,
		Arms: []eval.Arm{{Mode: engine.Diffusion, Seeds: seeds}},
	})
	if err != nil {
		t.Fatal(err)
	}
	document := eval.NewDocument(eval.Setup{}, report, puzzles, shares)
	var text strings.Builder
	if err := document.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	return report
}

// solver runs puzzles on the fixture's checkpoint.
type solver struct {
	engine    *engine.Engine
	config    *model.Config
	tokenizer *tokenizer.Tokenizer
}

func openSolver(t *testing.T, dir string) *solver {
	t.Helper()
	checkpoint, err := weights.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := gemma.Architecture().Load(checkpoint, model.LoadOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	tok, err := tokenizer.Open(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return &solver{engine.New(backend, tok), backend.Config(), tok}
}

func (s *solver) encode(text string) []int32 {
	return s.tokenizer.Encode(text, tokenizer.EncodeOptions{})
}

func (s *solver) solve(ctx context.Context, p eval.Puzzle, seed uint64, mode engine.Mode) (eval.Outcome, error) {
	g := s.config.Generation
	return eval.Collect(s.engine.Generate(ctx, engine.Request{
		Prompt: chat.Encode(s.tokenizer, chat.Raw{}.Prompt(p.Prompt)), Mode: mode, Seed: seed,
		Canvas: s.config.CanvasLength, Candidates: canvas.Candidates{Temperature: 1},
		Sampler: diffusion.Settings{
			Steps: g.MaxDenoisingSteps, TMin: g.TMin, TMax: g.TMax, EntropyBound: g.EntropyBound,
			Stability: g.StabilityThreshold, Confidence: g.ConfidenceThreshold,
		},
		End: s.config.Tokens.End, Pad: s.config.Tokens.Pad, Drafts: true,
	}))
}
