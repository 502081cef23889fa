package fake_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/conformance"
	"github.com/frescolm/fresco/internal/model/fake"
)

func TestConformance(t *testing.T) {
	holes := fake.Config(40, 6, 400)
	holes.Noise = canvas.Noise{Count: 38, IDs: slices.Concat(ids(0, 17), ids(18, 33), ids(34, 40))}
	causal := fake.Config(23, 0, 300)
	tests := map[string]fake.Options{
		"stores all":        {Config: fake.Config(31, 8, 400)},
		"rolls back little": {Config: fake.Config(31, 8, 400), Rollback: 8},
		"canvas of one":     {Config: fake.Config(2, 1, 100), Rollback: 8},
		"ids without token": {Config: holes, Rollback: 6},
		"causal only":       {Config: causal},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(*testing.T) model.Backend { return fake.New(o) })
		})
	}
	t.Run("same", func(t *testing.T) {
		o := tests["rolls back little"]
		conformance.Same(t, fake.New(o), fake.New(o), fake.New(o))
	})
}

func ids(from, to int32) []int32 {
	var all []int32
	for id := from; id < to; id++ {
		all = append(all, id)
	}
	return all
}

func TestStats(t *testing.T) {
	ln := func(p float64) float32 { return float32(math.Log(p)) }
	// Probabilities 1/2, 1/4, 1/8, 1/8 at temperature 1.
	logits := []float32{ln(0.125), ln(0.5), ln(0.125), ln(0.25)}
	every := canvas.Noise{Count: 4}
	tests := []struct {
		name    string
		tokens  canvas.Noise
		q       canvas.Sampling
		argmax  int32
		entropy float64
		// drawn lists the ids that 2,000 draws find.
		drawn []int32
	}{
		{"plain", every, canvas.Sampling{Temperature: 1}, 1, 1.75 * math.Ln2, []int32{0, 1, 2, 3}},
		{"temperature 0", every, canvas.Sampling{}, 1, 1.75 * math.Ln2, []int32{1}},
		{"top-k", every, canvas.Sampling{Temperature: 1, Filter: canvas.Filter{TopK: 2}}, 1, 1.75 * math.Ln2, []int32{1, 3}},
		{"top-k with a tie", every, canvas.Sampling{Temperature: 1, Filter: canvas.Filter{TopK: 3}}, 1, 1.75 * math.Ln2, []int32{0, 1, 2, 3}},
		{"top-p reached", every, canvas.Sampling{Temperature: 1, Filter: canvas.Filter{TopP: 0.74}}, 1, 1.75 * math.Ln2, []int32{1, 3}},
		{"top-p tie by id", every, canvas.Sampling{Temperature: 1, Filter: canvas.Filter{TopP: 0.8}}, 1, 1.75 * math.Ln2, []int32{0, 1, 3}},
		{"top-p after top-k", every, canvas.Sampling{Temperature: 1, Filter: canvas.Filter{TopK: 2, TopP: 0.66}}, 1, 1.75 * math.Ln2, []int32{1}},
		{"min-p", every, canvas.Sampling{Temperature: 1, Filter: canvas.Filter{MinP: 0.4}}, 1, 1.75 * math.Ln2, []int32{1, 3}},
		{"allowed", every, canvas.Sampling{Temperature: 1, Filter: canvas.Filter{TopK: 1}, Allowed: []int32{2, 3}}, 1, 1.75 * math.Ln2, []int32{3}},
		{"no token", canvas.Noise{Count: 2, IDs: []int32{0, 2}}, canvas.Sampling{Temperature: 1}, 0, math.Ln2, []int32{0, 2}},
		{
			"bias", every,
			canvas.Sampling{Temperature: 1, Adjust: canvas.Adjustment{Bias: []canvas.Bias{{ID: 3, Value: 100}}}}, 3, 0, []int32{3},
		},
		{
			// ln ½ is negative, so it is multiplied: 10·ln ½.
			"repetition", every,
			canvas.Sampling{Temperature: 1, Adjust: canvas.Adjustment{Repetition: []canvas.Factor{{ID: 1, Value: 10}}}},
			3, 1.0507, []int32{0, 2, 3},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var drawn []int32
			for seed := range 2000 {
				q := fake.Ask(test.q)
				q.Draw = canvas.Address{Seed: uint64(seed), Purpose: canvas.PurposeToken}
				s := fake.Stats(logits, test.tokens, q)
				if s.Argmax != test.argmax || math.Abs(float64(s.Entropy)-test.entropy) > 6e-3 || s.NonFinite {
					t.Fatalf("argmax %d, entropy %v; want %d, %v", s.Argmax, s.Entropy, test.argmax, test.entropy)
				}
				if !slices.Contains(drawn, s.Sample) {
					drawn = append(drawn, s.Sample)
				}
			}
			slices.Sort(drawn)
			if test.name == "repetition" { // id 1 has probability 0.002: whether it turns up is luck
				drawn = slices.DeleteFunc(drawn, func(id int32) bool { return id == 1 })
			}
			if diff := cmp.Diff(test.drawn, drawn); diff != "" {
				t.Errorf("ids drawn (-want +got):\n%s", diff)
			}
		})
	}

	s := fake.Stats(logits, every, fake.Ask(canvas.Sampling{
		Temperature: 3, Adjust: canvas.Adjustment{Bias: []canvas.Bias{{ID: 0, Value: 9}}}, Score: []int32{3, 1}, Top: 3,
	}))
	near := cmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })
	if diff := cmp.Diff([]float32{ln(0.25), ln(0.5)}, s.Scores, near); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
	want := []canvas.Scored{{ID: 1, LogProb: ln(0.5)}, {ID: 3, LogProb: ln(0.25)}, {ID: 0, LogProb: ln(0.125)}}
	if diff := cmp.Diff(want, s.Top, near); diff != "" {
		t.Errorf("top (-want +got):\n%s", diff)
	}
	if tie := fake.Stats([]float32{1, 5, 5, 5}, every, fake.Ask(canvas.Sampling{})); tie.Argmax != 1 || tie.Sample != 1 {
		t.Errorf("of three equal logits argmax is %d and the token %d, want the lowest id 1", tie.Argmax, tie.Sample)
	}
	if bad := fake.Stats([]float32{0, float32(math.Inf(1))}, canvas.Noise{Count: 2}, fake.Ask(canvas.Sampling{Temperature: 1})); !bad.NonFinite {
		t.Error("infinity was not seen")
	}
}

// Frequencies of 20,000 draws stay within 4.5 standard errors of 1/8, 1/2, 1/8,
// 1/4; the draws are fixed, so the test cannot be unlucky.
func TestStatsDrawsTheDistribution(t *testing.T) {
	p := []float64{0.125, 0.5, 0.125, 0.25}
	logits := make([]float32, 4)
	for i := range p {
		logits[i] = float32(math.Log(p[i]))
	}
	const n = 20000
	counts := make([]int, 4)
	for seed := range n {
		q := fake.Ask(canvas.Sampling{Temperature: 1, Draw: canvas.Address{Seed: uint64(seed)}})
		counts[fake.Stats(logits, canvas.Noise{Count: 4}, q).Sample]++
	}
	for i, c := range counts {
		if se := math.Sqrt(p[i] * (1 - p[i]) / n); math.Abs(float64(c)/n-p[i]) > 4.5*se {
			t.Errorf("id %d was drawn %d times of %d, probability %v", i, c, n, p[i])
		}
	}
}

func encode(s model.Sequence, ids ...int32) []model.Item {
	return []model.Item{{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: ids}}}}}
}

func TestHooks(t *testing.T) {
	broken := errors.New("broken")
	fail := false
	b := fake.New(fake.Options{
		Config: fake.Config(8, 4, 64),
		Script: fake.Canvases(0, []int32{5, 6}, []int32{7}),
		Before: func(context.Context, []model.Item) error {
			if fail {
				return broken
			}
			return nil
		},
		Poison: func(position int, id int32) (int, bool) { return 1, id == 3 },
	})
	s := b.NewSequence()
	results, err := b.Step(context.Background(), encode(s, 4, 4, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	if got := results[0].NonFinite; got == nil || *got != (model.NonFinite{Layer: 1, Position: 2}) || s.Len() != 0 {
		t.Errorf("a poisoned token at position 2 gave %v and a sequence of %d", got, s.Len())
	}
	fail = true
	if _, err := b.Step(context.Background(), encode(s, 4)); !errors.Is(err, broken) || s.Len() != 0 {
		t.Errorf("error %v and a sequence of %d", err, s.Len())
	}
	fail = false
	if _, err := b.Step(context.Background(), encode(s, 4, 5)); err != nil {
		t.Fatal(err)
	}
	c, err := s.NewCanvas(3)
	if err != nil {
		t.Fatal(err)
	}
	d := &model.Denoise{
		Canvas: c, Sequence: s, IDs: []int32{1, 2, 3}, Temperature: 0.5, Candidates: canvas.Candidates{Temperature: 1},
		Draw: canvas.Address{Canvas: 1},
	}
	results, err = b.Step(context.Background(), []model.Item{{Denoise: d}})
	if err != nil {
		t.Fatal(err)
	}
	var samples []int32
	for _, p := range results[0].Stats {
		samples = append(samples, p.Sample)
		if p.Entropy != 0 {
			t.Errorf("a certain token has entropy %v", p.Entropy)
		}
	}
	if diff := cmp.Diff([]int32{7, 0, 0}, samples); diff != "" {
		t.Errorf("canvas 1 (-want +got):\n%s", diff)
	}
	want := []fake.Call{
		{Encode: true, Tokens: 4, IDs: []int32{4, 4, 3, 4}},
		{Encode: true, Tokens: 2, IDs: []int32{4, 5}},
		{Tokens: 3, Prefix: 2, Rows: 3, IDs: []int32{1, 2, 3}, Draw: canvas.Address{Canvas: 1}},
	}
	if diff := cmp.Diff(want, b.Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "1 sequences and 1 canvases") {
		t.Errorf("close with live handles: %v", err)
	}
	c.Release()
	s.Release()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// A context that ends between two items of a step leaves both as they were.
func TestCancelBetweenItems(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := fake.New(fake.Options{Config: fake.Config(8, 4, 64), Between: cancel})
	first, second := b.NewSequence(), b.NewSequence()
	items := append(encode(first, 1, 2), encode(second, 3)...)
	if _, err := b.Step(ctx, items); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if first.Len() != 0 || second.Len() != 0 || len(b.Calls) != 0 {
		t.Errorf("lengths %d and %d, %d calls after a cancelled step", first.Len(), second.Len(), len(b.Calls))
	}
}
