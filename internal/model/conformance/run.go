package conformance

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
)

// Run opens a backend and runs every check as a subtest. At the end all
// sequences and canvases are released and the backend is closed.
func Run(t *testing.T, open func(t *testing.T) model.Backend) {
	b := open(t)
	h := newHarness(b)
	checks := []struct {
		name    string
		denoise bool // needs a decoder
		check   func(*testing.T, *harness)
	}{
		{"Config", false, checkConfig},
		{"PrefillInChunks", false, checkChunks},
		{"Segments", false, checkSegments},
		{"RowsInAnyOrder", false, checkRowOrder},
		{"LastCommitted", false, checkLastCommitted},
		{"Questions", false, checkQuestions},
		{"IDsWithoutToken", false, checkNoise},
		{"TruncateUndoesCommit", false, checkTruncate},
		{"TruncateTooFar", false, checkTruncateTooFar},
		{"ForkIsIndependent", false, checkFork},
		{"EncodesTogether", false, checkEncodesTogether},
		{"BadEncode", false, checkBadEncode},
		{"CancelledStep", false, checkCancelled},
		{"Released", false, checkReleased},
		{"DenoiseOnlyReads", true, checkDenoiseReads},
		{"DenoiseLengths", true, checkDenoiseLengths},
		{"DenoiseQuestions", true, checkDenoiseQuestions},
		{"CanvasLogits", true, checkLogits},
		{"DenoisesTogether", true, checkDenoisesTogether},
		{"MixedStep", true, checkMixedStep},
		{"BadDenoise", true, checkBadDenoise},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if c.denoise && !b.Capabilities().Denoise {
				t.Skip("this backend has no decoder")
			}
			c.check(t, h)
		})
	}
	if err := b.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// Same runs one workload on every backend, each in a subtest, and fails where a
// result differs from that of the first. It does not close them.
func Same(t *testing.T, backends ...model.Backend) {
	var want [][]canvas.Stats
	for i, b := range backends {
		t.Run(fmt.Sprintf("Backend%d", i), func(t *testing.T) {
			h := newHarness(b)
			s := h.sequence(t)
			prompt := h.tokens(1, h.prompt)
			got := [][]canvas.Stats{h.encode(t, s, prompt, 0), h.encode(t, s, h.tokens(2, h.short), 0)}
			if b.Capabilities().Denoise {
				got = append(got, h.denoise(t, s, h.canvas(t, s, h.full), 3)...)
			}
			if i == 0 {
				want = got
				return
			}
			equalAll(t, fmt.Sprintf("backend %d and backend 0", i), got, want)
		})
	}
}

// A harness holds a backend and the sizes that the checks use.
type harness struct {
	model.Backend
	// prompt is a number of tokens that crosses the sliding window, full the
	// canvas of the checkpoint, short a shorter one.
	prompt, full, short int
}

func newHarness(b model.Backend) *harness {
	c := b.Config()
	h := &harness{Backend: b, full: max(1, c.CanvasLength)}
	h.short = max(1, h.full/2)
	h.prompt = max(3, min(c.Window+5, c.MaxPositions-3*h.full))
	return h
}

// tokens returns n ids that have a token; another seed gives others.
func (h *harness) tokens(seed, n int) []int32 {
	noise := h.Config().Noise
	ids := make([]int32, n)
	x := uint32(seed)*2654435761 + 12345
	for i := range ids {
		x = x*1664525 + 1013904223
		ids[i] = noise.At(int(x>>8) % noise.Count)
	}
	return ids
}

// sampling is a question that uses every part of the request; another seed asks
// about other ids and draws elsewhere.
func (h *harness) sampling(seed int) canvas.Sampling {
	ids := h.tokens(seed, 3)
	low, high := min(ids[0], ids[1]), max(ids[0], ids[1])
	adjust := canvas.Adjustment{Bias: []canvas.Bias{{ID: low, Value: 0.75}}}
	if high != low {
		adjust.Repetition = []canvas.Factor{{ID: low, Value: 1.25}, {ID: high, Value: 1.5}}
	}
	return canvas.Sampling{
		Adjust:      adjust,
		Temperature: 0.7,
		Filter:      canvas.Filter{TopK: 40, TopP: 0.95, MinP: 0.001},
		Draw:        canvas.Address{Seed: uint64(seed), Position: uint32(seed), Purpose: canvas.PurposeToken},
		Score:       ids,
		Top:         min(4, h.Config().Noise.Count),
	}
}

func (h *harness) sequence(t *testing.T) model.Sequence {
	s := h.NewSequence()
	t.Cleanup(s.Release)
	return s
}

func (h *harness) canvas(t *testing.T, s model.Sequence, length int) model.Canvas {
	t.Helper()
	c, err := s.NewCanvas(length)
	if err != nil {
		t.Fatalf("new canvas of %d: %v", length, err)
	}
	t.Cleanup(c.Release)
	return c
}

// step runs items that must succeed.
func (h *harness) step(t *testing.T, items ...model.Item) []model.Result {
	t.Helper()
	results, err := h.Step(context.Background(), items)
	if err != nil {
		t.Fatalf("step: %v", err)
	}
	if len(results) != len(items) {
		t.Fatalf("step: %d results for %d items", len(results), len(items))
	}
	for i, r := range results {
		if r.NonFinite != nil {
			t.Fatalf("step: item %d: %v", i, r.NonFinite)
		}
		if want := rowsOf(items[i]); len(r.Stats) != want {
			t.Fatalf("step: item %d: %d statistics for %d rows", i, len(r.Stats), want)
		}
	}
	return results
}

func rowsOf(item model.Item) int {
	if item.Encode != nil {
		return len(item.Encode.Rows)
	}
	return len(item.Denoise.IDs)
}

// encode commits ids in chunks (0: all at once), asking every row; the question
// depends on the absolute position alone.
func (h *harness) encode(t *testing.T, s model.Sequence, ids []int32, chunk int) []canvas.Stats {
	t.Helper()
	if chunk == 0 {
		chunk = len(ids)
	}
	var stats []canvas.Stats
	for len(ids) > 0 {
		n := min(chunk, len(ids))
		before := s.Len()
		e := h.encodeItem(s, ids[:n])
		stats = append(stats, h.step(t, model.Item{Encode: e})[0].Stats...)
		if s.Len() != before+n {
			t.Fatalf("encode of %d tokens after %d: the sequence has %d", n, before, s.Len())
		}
		ids = ids[n:]
	}
	return stats
}

func (h *harness) encodeItem(s model.Sequence, ids []int32) *model.Encode {
	e := &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: ids}}}
	for i := range ids {
		e.Rows = append(e.Rows, model.Row{Index: i, Sampling: h.sampling(s.Len() + i)})
	}
	return e
}

// denoiseItem is a step of a canvas; the seed moves ids and draws.
func (h *harness) denoiseItem(s model.Sequence, c model.Canvas, seed int) *model.Denoise {
	return &model.Denoise{
		Canvas: c, Sequence: s, IDs: h.tokens(1000+seed, c.Len()),
		Temperature: 0.8 - 0.05*float32(seed%4),
		Candidates:  canvas.Candidates{Temperature: 1},
		Draw:        canvas.Address{Seed: 9, Step: uint16(seed), Purpose: canvas.PurposeCandidate},
		Score:       h.tokens(2000+seed, 2), Top: min(3, h.Config().Noise.Count),
	}
}

// denoise runs steps of a canvas, the ids of which depend on the step alone.
func (h *harness) denoise(t *testing.T, s model.Sequence, c model.Canvas, steps int) [][]canvas.Stats {
	t.Helper()
	var all [][]canvas.Stats
	for k := range steps {
		all = append(all, h.step(t, model.Item{Denoise: h.denoiseItem(s, c, k)})[0].Stats)
	}
	return all
}

// bits compares floats by their bits, so that NaN equals NaN and 0 not -0.
var bits = cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })

func equal(t *testing.T, what string, got, want []canvas.Stats) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows and %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if diff := cmp.Diff(want[i], got[i], bits); diff != "" {
			t.Errorf("%s: row %d of %d differs (-want +got):\n%s", what, i, len(got), diff)
			return
		}
	}
}

func equalAll(t *testing.T, what string, got, want [][]canvas.Stats) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d results and %d", what, len(got), len(want))
		return
	}
	for i := range got {
		equal(t, what, got[i], want[i])
	}
}

// state is all that can be seen of a sequence from outside: what follows its
// tokens, and what a canvas on it becomes. It is taken on a fork, so that the
// sequence stays as it is.
func (h *harness) state(t *testing.T, s model.Sequence) [][]canvas.Stats {
	t.Helper()
	fork, err := s.Fork()
	if err != nil {
		t.Fatalf("fork: %v", err)
	}
	defer fork.Release()
	var all [][]canvas.Stats
	if h.Capabilities().Denoise {
		c, err := fork.NewCanvas(h.short)
		if err != nil {
			t.Fatalf("new canvas: %v", err)
		}
		defer c.Release()
		all = h.denoise(t, fork, c, 2)
	}
	return append(all, h.encode(t, fork, h.tokens(77, 2), 0))
}
