package engine_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/gemma"
	"github.com/frescolm/fresco/internal/weights"
)

// sudokuTrace is the recorded run of one puzzle in sudoku/eval.json.
type sudokuTrace struct {
	Initial []int32 `json:"initial_canvas"`
	Steps   []struct{ Sampled, Renoise, Argmax []int32 }
}

// TestGoldenSudokuTrace replays the recorded runs of the trained checkpoint with
// their draws: the same argmax canvas after every step, the same number of
// steps, the official answer.
func TestGoldenSudokuTrace(t *testing.T) {
	dir := fixtures.Dir(t, "sudoku")
	var file struct {
		Buckets map[string][]struct {
			Prompt []int32 `json:"prompt_ids"`
			Trace  *sudokuTrace
			Output struct {
				IDs []int32 `json:"output_ids"`
			} `json:"official"`
		}
	}
	readJSON(t, filepath.Join(dir, "eval.json"), &file)
	checkpoint, err := weights.OpenDir(fixtures.SudokuCheckpoint(dir))
	if err != nil {
		t.Fatal(err)
	}
	backend, err := gemma.Architecture().Load(checkpoint, model.LoadOptions{Arithmetic: "exact", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	seen := 0
	for _, bucket := range slices.Sorted(maps.Keys(file.Buckets)) {
		for i, puzzle := range file.Buckets[bucket] {
			if puzzle.Trace == nil {
				continue
			}
			seen++
			t.Run(fmt.Sprintf("%s/%d", bucket, i), func(t *testing.T) {
				steps, best := replaySudoku(t, backend, puzzle.Prompt, puzzle.Trace)
				if steps != len(puzzle.Trace.Steps) {
					t.Errorf("%d steps, want %d", steps, len(puzzle.Trace.Steps))
				}
				for j, id := range puzzle.Output.IDs {
					if best[j] != id {
						t.Errorf("position %d is %d, want %d", j, best[j], id)
					}
					if slices.Contains(backend.Config().Tokens.End, id) {
						break // padding follows
					}
				}
			})
		}
	}
	if seen == 0 {
		t.Fatal("eval.json holds no trace")
	}
}

// replaySudoku runs one canvas with the recorded draws and returns the number of
// steps and the last argmax canvas.
func replaySudoku(t *testing.T, backend model.Backend, prompt []int32, trace *sudokuTrace) (steps int, best []int32) {
	config := backend.Config()
	g := config.Generation
	request := engine.Request{
		Prompt: prompt, Mode: engine.Diffusion, MaxTokens: config.CanvasLength, Canvas: config.CanvasLength,
		Sampler: diffusion.Settings{
			Steps: g.MaxDenoisingSteps, TMin: g.TMin, TMax: g.TMax, EntropyBound: g.EntropyBound,
			Stability: g.StabilityThreshold, Confidence: g.ConfidenceThreshold,
		},
		Candidates: canvas.Candidates{Temperature: 1}, End: config.Tokens.End, Pad: config.Tokens.Pad,
		Drafts: true, Draws: (*sudokuDraws)(trace),
	}
	for event, err := range engine.New(&sudokuModel{backend, trace}, nil).Generate(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
		draft, ok := event.(*engine.Draft)
		if !ok {
			continue
		}
		if steps == len(trace.Steps) {
			t.Fatalf("still not done after the %d recorded steps", steps)
		}
		if !slices.Equal(draft.Best, trace.Steps[steps].Argmax) {
			t.Errorf("step %d: argmax canvas differs", steps)
		}
		best = slices.Clone(draft.Best)
		steps++
	}
	return steps, best
}

// sudokuDraws gives the recorded canvases.
type sudokuDraws sudokuTrace

func (d *sudokuDraws) ID(at canvas.Address) int32 {
	if at.Purpose == canvas.PurposeInitial {
		return d.Initial[at.Position]
	}
	return d.Steps[at.Step].Renoise[at.Position]
}

// sudokuModel is the backend with the recorded candidates.
type sudokuModel struct {
	model.Backend
	trace *sudokuTrace
}

func (m *sudokuModel) Step(ctx context.Context, items []model.Item) ([]model.Result, error) {
	results, err := m.Backend.Step(ctx, items)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if item.Denoise != nil && int(item.Denoise.Draw.Step) < len(m.trace.Steps) {
			for j, id := range m.trace.Steps[item.Denoise.Draw.Step].Sampled {
				results[i].Stats[j].Sample = id
			}
		}
	}
	return results, nil
}
