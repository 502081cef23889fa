package conformance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
)

func checkConfig(t *testing.T, h *harness) {
	c := h.Config()
	if c.VocabSize < 1 || c.MaxPositions < 1 || c.Window < 1 || len(c.Layers) == 0 {
		t.Errorf("config %+v has no vocabulary, positions, window or layers", *c)
	}
	if h.Capabilities().Denoise != (c.CanvasLength > 0) {
		t.Errorf("canvas length %d, but the capability to denoise is %v", c.CanvasLength, h.Capabilities().Denoise)
	}
	if c.Noise.Count < 1 || c.Noise.Count > c.VocabSize || c.Noise.IDs != nil && len(c.Noise.IDs) != c.Noise.Count {
		t.Errorf("noise of %d ids (%d listed) for a vocabulary of %d", c.Noise.Count, len(c.Noise.IDs), c.VocabSize)
	}
	if n := h.NewSequence(); n.Len() != 0 {
		t.Errorf("a new sequence has %d tokens", n.Len())
	} else {
		n.Release()
	}
	small := h.MemoryPlan(model.MemoryRequest{Context: h.prompt, PrefillChunk: h.prompt})
	large := h.MemoryPlan(model.MemoryRequest{Context: c.MaxPositions, PrefillChunk: h.prompt})
	if small.Total() < 1 || large.Total() < small.Total() {
		t.Errorf("memory plan: %d bytes for %d tokens, %d bytes for %d", small.Total(), h.prompt, large.Total(), c.MaxPositions)
	}
}

func checkChunks(t *testing.T, h *harness) {
	ids := h.tokens(1, h.prompt)
	whole := h.sequence(t)
	want := h.encode(t, whole, ids, 0)
	after := h.state(t, whole)
	for _, chunk := range []int{1, 3, max(1, h.prompt-1)} {
		s := h.sequence(t)
		what := fmt.Sprintf("chunks of %d and one chunk", chunk)
		equal(t, what, h.encode(t, s, ids, chunk), want)
		equalAll(t, what+": what follows", h.state(t, s), after)
	}
}

func checkSegments(t *testing.T, h *harness) {
	ids := h.tokens(1, h.prompt)
	whole := h.sequence(t)
	want := h.encode(t, whole, ids, 0)
	s := h.sequence(t)
	e := h.encodeItem(s, ids)
	cut := len(ids) / 3
	e.Segments = []model.Segment{{IDs: ids[:cut]}, {}, {IDs: ids[cut:]}}
	equal(t, "three segments and one", h.step(t, model.Item{Encode: e})[0].Stats, want)
	equalAll(t, "three segments and one: what follows", h.state(t, s), h.state(t, whole))
}

func checkRowOrder(t *testing.T, h *harness) {
	ids := h.tokens(1, h.prompt)
	want := h.encode(t, h.sequence(t), ids, 0)

	s := h.sequence(t)
	e := h.encodeItem(s, ids)
	slices.Reverse(e.Rows)
	got := h.step(t, model.Item{Encode: e})[0].Stats
	slices.Reverse(got)
	equal(t, "rows in descending and in ascending order", got, want)

	for _, k := range []int{0, len(ids) / 2, len(ids) - 1} {
		s := h.sequence(t)
		e := h.encodeItem(s, ids)
		e.Rows = []model.Row{e.Rows[k], e.Rows[k]}
		got := h.step(t, model.Item{Encode: e})[0].Stats
		equal(t, fmt.Sprintf("row %d asked twice and among all", k), got, []canvas.Stats{want[k], want[k]})
	}
}

func checkLastCommitted(t *testing.T, h *harness) {
	s := h.sequence(t)
	ask := func(seed int) []canvas.Stats {
		t.Helper()
		e := &model.Encode{Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: h.sampling(seed)}}}
		return h.step(t, model.Item{Encode: e})[0].Stats
	}
	stats := h.encode(t, s, h.tokens(1, h.prompt), 3)
	last := h.prompt - 1
	for range 2 {
		equal(t, "last committed row and row of the encode", ask(last), stats[last:])
	}
	if s.Len() != h.prompt {
		t.Errorf("asking the last committed row changed the length from %d to %d", h.prompt, s.Len())
	}
	if h.Capabilities().Denoise {
		h.denoise(t, s, h.canvas(t, s, h.short), 1)
		equal(t, "last committed row after a denoising step", ask(last), stats[last:])
	}
	fork, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	h.encode(t, fork, h.tokens(3, 2), 0)
	fork.Release()
	equal(t, "last committed row after a fork went on", ask(last), stats[last:])

	more := h.encode(t, s, h.tokens(4, 1), 0)
	equal(t, "last committed row after one more token", ask(h.prompt), more)
}

// checkQuestions compares the parts of an answer with each other.
func checkQuestions(t *testing.T, h *harness) {
	s := h.sequence(t)
	h.encode(t, s, h.tokens(1, 3), 0)
	noise := h.Config().Noise
	ask := func(q canvas.Sampling) canvas.Stats {
		t.Helper()
		e := &model.Encode{Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: q}}}
		return h.step(t, model.Item{Encode: e})[0].Stats[0]
	}

	all := make([]int32, noise.Count)
	for k := range all {
		all[k] = noise.At(k)
	}
	plain := ask(canvas.Sampling{Temperature: 1, Score: all, Top: len(all)})
	if len(plain.Scores) != len(all) || len(plain.Top) != len(all) {
		t.Fatalf("%d scores and %d top for %d ids", len(plain.Scores), len(plain.Top), len(all))
	}
	sum, entropy := 0.0, 0.0
	score := map[int32]float32{}
	for k, l := range plain.Scores {
		p := math.Exp(float64(l))
		sum += p
		entropy -= p * float64(l)
		score[all[k]] = l
	}
	if math.Abs(sum-1) > 1e-3 {
		t.Errorf("the probabilities of all ids sum to %v", sum)
	}
	if math.Abs(entropy-float64(plain.Entropy)) > 1e-3*(1+entropy) {
		t.Errorf("entropy %v, by the scores %v", plain.Entropy, entropy)
	}
	if plain.Argmax != plain.Top[0].ID {
		t.Errorf("argmax %d, most likely %d", plain.Argmax, plain.Top[0].ID)
	}
	for k, top := range plain.Top {
		if math.Float32bits(top.LogProb) != math.Float32bits(score[top.ID]) {
			t.Fatalf("id %d has log-probability %v among the top and score %v", top.ID, top.LogProb, score[top.ID])
		}
		if k > 0 && top.LogProb > plain.Top[k-1].LogProb {
			t.Fatalf("top %d (%v) stands before top %d (%v)", k-1, plain.Top[k-1], k, top)
		}
	}

	draw := canvas.Address{Purpose: canvas.PurposeToken}
	for seed := range 20 {
		draw.Seed = uint64(seed)
		if got := ask(canvas.Sampling{Draw: draw}); got.Sample != plain.Argmax || got.Entropy != plain.Entropy {
			t.Fatalf("temperature 0: token %d and entropy %v, want %d and %v", got.Sample, got.Entropy, plain.Argmax, plain.Entropy)
		}
	}
	if got := ask(canvas.Sampling{Temperature: 1, Filter: canvas.Filter{TopK: 1}, Draw: draw}); got.Sample != plain.Argmax && score[got.Sample] != score[plain.Argmax] {
		t.Errorf("top-k 1: token %d, want %d", got.Sample, plain.Argmax)
	}
	least := plain.Top[len(plain.Top)-1].ID
	pushed := ask(canvas.Sampling{
		Temperature: 1, Adjust: canvas.Adjustment{Bias: []canvas.Bias{{ID: least, Value: 500}}}, Score: []int32{least}, Draw: draw,
	})
	if pushed.Argmax != least || pushed.Sample != least {
		t.Errorf("bias 500 on id %d: argmax %d, token %d", least, pushed.Argmax, pushed.Sample)
	}
	if math.Float32bits(pushed.Scores[0]) != math.Float32bits(score[least]) {
		t.Errorf("a bias moved the score of id %d from %v to %v", least, score[least], pushed.Scores[0])
	}
	for seed := range 50 {
		draw.Seed = uint64(seed)
		for _, temperature := range []float32{0, 1, 50} {
			q := canvas.Sampling{Temperature: temperature, Allowed: []int32{least}, Filter: canvas.Filter{TopK: 1}, Draw: draw}
			if got := ask(q); got.Sample != least {
				t.Fatalf("only id %d allowed, temperature %v: token %d", least, temperature, got.Sample)
			}
		}
	}
}

// checkNoise asks for ids without a token by force.
func checkNoise(t *testing.T, h *harness) {
	c := h.Config()
	if c.Noise.Count == c.VocabSize {
		t.Skip("every id has a token")
	}
	missing := int32(0)
	for k := 0; k < c.Noise.Count && c.Noise.At(k) == missing; k++ {
		missing++
	}
	s := h.sequence(t)
	h.encode(t, s, h.tokens(1, 3), 0)
	q := canvas.Sampling{
		Temperature: 1, Adjust: canvas.Adjustment{Bias: []canvas.Bias{{ID: missing, Value: 500}}}, Score: []int32{missing},
	}
	for seed := range 20 {
		q.Draw.Seed = uint64(seed)
		e := &model.Encode{Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: q}}}
		got := h.step(t, model.Item{Encode: e})[0].Stats[0]
		if got.Argmax == missing || got.Sample == missing || !math.IsInf(float64(got.Scores[0]), -1) {
			t.Fatalf("id %d has no token: argmax %d, token %d, score %v", missing, got.Argmax, got.Sample, got.Scores[0])
		}
	}
}

func checkEncodesTogether(t *testing.T, h *harness) {
	lengths := []int{h.prompt, 1, 3}
	var want [][]canvas.Stats
	var after [][][]canvas.Stats
	for i, n := range lengths {
		s := h.sequence(t)
		want = append(want, h.encode(t, s, h.tokens(10+i, n), 0))
		after = append(after, h.state(t, s))
	}
	var items []model.Item
	for i, n := range lengths {
		items = append(items, model.Item{Encode: h.encodeItem(h.sequence(t), h.tokens(10+i, n))})
	}
	for i, r := range h.step(t, items...) {
		what := fmt.Sprintf("encode %d together and alone", i)
		equal(t, what, r.Stats, want[i])
		equalAll(t, what+": what follows", h.state(t, items[i].Encode.Sequence), after[i])
	}
}

func checkBadEncode(t *testing.T, h *harness) {
	c := h.Config()
	s := h.sequence(t)
	h.encode(t, s, h.tokens(1, 3), 0)
	before := h.state(t, s)
	good := h.tokens(2, 2)
	released := h.NewSequence()
	released.Release()
	plain := canvas.Sampling{Temperature: 1}
	tests := []struct {
		name string
		item model.Item
	}{
		{"empty item", model.Item{}},
		{"no sequence", model.Item{Encode: &model.Encode{Segments: []model.Segment{{IDs: good}}}}},
		{"released sequence", model.Item{Encode: &model.Encode{Sequence: released, Segments: []model.Segment{{IDs: good}}}}},
		{"negative id", model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: []int32{good[0], -1}}}}}},
		{"id beyond the vocabulary", model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: []int32{int32(c.VocabSize)}}}}}},
		{"beyond the context", model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: h.tokens(3, c.MaxPositions)}}}}},
		{"row beyond the tokens", model.Item{Encode: &model.Encode{
			Sequence: s, Segments: []model.Segment{{IDs: good}}, Rows: []model.Row{{Index: len(good), Sampling: plain}},
		}}},
		{"negative row", model.Item{Encode: &model.Encode{
			Sequence: s, Segments: []model.Segment{{IDs: good}}, Rows: []model.Row{{Index: -2, Sampling: plain}},
		}}},
		{"row of an empty encode", model.Item{Encode: &model.Encode{Sequence: s, Rows: []model.Row{{Index: 0, Sampling: plain}}}}},
		{"last committed of nothing", model.Item{Encode: &model.Encode{
			Sequence: h.sequence(t), Rows: []model.Row{{Index: model.LastCommitted, Sampling: plain}},
		}}},
		{"score beyond the vocabulary", model.Item{Encode: &model.Encode{
			Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: 1, Score: []int32{int32(c.VocabSize)}}}},
		}}},
		{"bias beyond the vocabulary", model.Item{Encode: &model.Encode{
			Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{
				Temperature: 1, Adjust: canvas.Adjustment{Bias: []canvas.Bias{{ID: int32(c.VocabSize), Value: 1}}},
			}}},
		}}},
		{"negative top", model.Item{Encode: &model.Encode{
			Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: 1, Top: -1, Score: good}}},
		}}},
		{"nothing allowed", model.Item{Encode: &model.Encode{
			Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: 1, Allowed: []int32{}}}},
		}}},
		{"allowed ids not ascending", model.Item{Encode: &model.Encode{
			Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: 1, Allowed: []int32{2, 1}}}},
		}}},
		{"bias NaN", model.Item{Encode: &model.Encode{
			Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{
				Temperature: 1, Adjust: canvas.Adjustment{Bias: []canvas.Bias{{ID: 0, Value: float32(math.NaN())}}},
			}}},
		}}},
		{"temperature NaN", model.Item{Encode: &model.Encode{
			Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: float32(math.NaN())}}},
		}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			refused(t, h, test.item)
			// A good item in the same step must leave no trace.
			other := h.sequence(t)
			refused(t, h, model.Item{Encode: &model.Encode{Sequence: other, Segments: []model.Segment{{IDs: good}}}}, test.item)
			if other.Len() != 0 {
				t.Errorf("the step failed, but another sequence has grown to %d tokens", other.Len())
			}
		})
	}
	t.Run("one sequence twice", func(t *testing.T) {
		item := model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: good}}}}
		refused(t, h, item, item)
	})
	if s.Len() != 3 {
		t.Errorf("bad items changed the length from 3 to %d", s.Len())
	}
	equalAll(t, "after bad items and before", h.state(t, s), before)
}

// refused runs items that must fail with an error, not a panic.
func refused(t *testing.T, h *harness, items ...model.Item) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
		}
	}()
	if _, err := h.Step(context.Background(), items); err == nil {
		t.Error("no error")
	}
}
