package gemma

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/model"
)

// openSmall opens a small checkpoint of the fixtures.
func openSmall(t *testing.T, o model.LoadOptions) *Backend {
	t.Helper()
	o.Threads = 1
	b := openBackend(t, filepath.Join(fixtures.Dir(t, "text"), smallCheckpoint(t)), o)
	t.Cleanup(func() { b.Close() })
	return b
}

// someIDs returns n ids that differ from place to place.
func someIDs(b *Backend, n, from int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32((7 + 31*(from+i)) % b.config.vocab)
	}
	return ids
}

// TestSlidingStorage: what a sliding layer stores is bounded by window, rollback
// and a page, however long the sequence; a full layer stores everything.
func TestSlidingStorage(t *testing.T) {
	b := openSmall(t, model.LoadOptions{})
	s := b.NewSequence().(*sequence)
	const chunk = 50
	for from := 0; from < 1000; from += chunk {
		prefill(t, b, s, someIDs(b, chunk, from))
		seen := b.config.window - 1
		for i, l := range b.config.layers {
			stored := len(s.layers[i].pages) * pagePositions
			switch {
			case l.kind == model.Full && stored < s.length:
				t.Fatalf("full layer %d stores %d of %d positions", i, stored, s.length)
			case l.kind == model.Sliding && stored > seen+chunk+2*pagePositions:
				t.Fatalf("sliding layer %d stores %d positions after %d tokens", i, stored, s.length)
			case l.kind == model.Sliding && s.layers[i].first > max(0, s.length-chunk-seen):
				t.Fatalf("sliding layer %d begins at %d, but undoing the last commit needs %d", i, s.layers[i].first, s.length-chunk-seen)
			}
		}
	}
	if err := s.Truncate(s.length - 500); err == nil {
		t.Error("truncating by 500 positions was accepted")
	}
	s.Release()
	if b.pages.used != 0 {
		t.Errorf("%d pages are still in use after Release", b.pages.used)
	}
}

// TestPagesComeBack: forks share pages, and nothing is left when all are
// released, in whatever order they were written, cut and dropped.
func TestPagesComeBack(t *testing.T) {
	b := openSmall(t, model.LoadOptions{})
	s := b.NewSequence()
	prefill(t, b, s, someIDs(b, 100, 0))
	shared := b.pages.used
	fork, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	if b.pages.used != shared {
		t.Errorf("a fork took %d pages", b.pages.used-shared)
	}
	prefill(t, b, fork, someIDs(b, 3, 0))
	if got, most := b.pages.used-shared, len(b.config.layers); got > most {
		t.Errorf("3 tokens on a fork took %d pages, at most one a layer is needed", got)
	}
	if err := s.Truncate(90); err != nil {
		t.Fatal(err)
	}
	prefill(t, b, s, someIDs(b, 40, 90))
	s.Release()
	fork.Release()
	if b.pages.used != 0 {
		t.Errorf("%d pages are still in use", b.pages.used)
	}
}

// TestNonFiniteIsAttributed: NaN in a weight is reported with layer and position,
// the sequence stays as it was, and another item of the step is not touched.
func TestNonFiniteIsAttributed(t *testing.T) {
	b := openSmall(t, model.LoadOptions{})
	good, bad := b.NewSequence(), b.NewSequence()
	defer good.Release()
	defer bad.Release()
	prefill(t, b, bad, someIDs(b, 5, 0))

	layer := len(b.weights.layers) - 2
	norm := b.weights.layers[layer].preDenseNorm
	before := norm[3]
	norm[3] = float32(math.NaN())
	goodIDs := someIDs(b, 4, 9)
	encode := func(s model.Sequence) model.Item {
		return model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: goodIDs}}}}
	}
	results, err := b.Step(t.Context(), []model.Item{encode(bad)})
	if err != nil {
		t.Fatal(err)
	}
	want := model.NonFinite{Layer: layer, Position: 5}
	if n := results[0].NonFinite; n == nil || *n != want {
		t.Errorf("reported %v, want %v", n, want)
	}
	if bad.Len() != 5 {
		t.Errorf("the sequence has %d tokens, want the 5 of before", bad.Len())
	}
	norm[3] = before
	results, err = b.Step(t.Context(), []model.Item{encode(good), encode(bad)})
	if err != nil || results[0].NonFinite != nil || results[1].NonFinite != nil {
		t.Errorf("the step after it: %v, %v", results, err)
	}
}

// TestC16RowsWithoutToken: rows of the embedding that the tokenizer has no token
// for are masked before the softmax and never drawn, even when they are the most
// likely.
func TestC16RowsWithoutToken(t *testing.T) {
	all := openSmall(t, model.LoadOptions{}).config.vocab
	tokens := int32(all * 5 / 6)
	ids := make([]int32, tokens)
	for i := range ids {
		ids[i] = int32(i)
	}
	b := openSmall(t, model.LoadOptions{Tokens: ids})
	last := int32(all) - 1 // has no token
	if n := b.Config().Noise; n.Count != int(tokens) || n.IDs != nil {
		t.Errorf("noise is drawn from %d ids (list %v), want the first %d", n.Count, n.IDs != nil, tokens)
	}
	s := b.NewSequence()
	defer s.Release()
	prefill(t, b, s, someIDs(b, 5, 0))
	c, err := s.NewCanvas(b.config.canvas)
	if err != nil {
		t.Fatal(err)
	}
	biased := make([]canvas.Adjustment, c.Len())
	for i := range biased {
		biased[i].Bias = []canvas.Bias{{ID: last, Value: 1000}}
	}
	for seed := range uint64(20) {
		d := &model.Denoise{
			Canvas: c, Sequence: s, IDs: someIDs(b, c.Len(), int(seed)), Temperature: 1, Adjust: biased,
			Candidates: canvas.Candidates{Temperature: 1}, Draw: canvas.Address{Seed: seed, Purpose: canvas.PurposeCandidate},
			Score: []int32{last}, Top: all,
		}
		for i, st := range step(t, b, model.Item{Denoise: d})[0].Stats {
			if st.Argmax >= tokens || st.Sample >= tokens {
				t.Fatalf("seed %d, position %d: argmax %d, sample %d", seed, i, st.Argmax, st.Sample)
			}
			if !math.IsInf(float64(st.Scores[0]), -1) || len(st.Top) != int(tokens) {
				t.Fatalf("seed %d, position %d: score %v of a masked id, %d ids in the top", seed, i, st.Scores[0], len(st.Top))
			}
		}
	}
}
