package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model/fake"
)

// C11: requests with different seeds start from different canvases, and the seed
// that an answer reports gives the same bytes again.
func TestC11Seed(t *testing.T) {
	starts := map[string]uint64{}
	for seed := range uint64(64) {
		r := diffuse(3, 4, 5)
		r.Seed, r.Canvas, r.MaxTokens = seed<<32|seed, 8, 16
		r.Guards = engine.Guards{}
		b := fake.New(small(fake.Script{}))
		h := generate(t, context.Background(), b, nil, r)

		start := fmt.Sprint(denoised(b)[0])
		if other, seen := starts[start]; seen {
			t.Errorf("seeds %d and %d start from the same canvas %s", other, seed, start)
		}
		starts[start] = seed

		r.Seed = h.started.Seed
		again := run(t, small(fake.Script{}), nil, r)
		sameFinished(t, fmt.Sprintf("seed %d again", seed), again.finished, h.finished)
	}
	// Choices and attempts of one seed differ as well; choice 0 is the answer of
	// a request for one.
	base := diffuse(3, 4, 5)
	for _, change := range []func(*engine.Request){
		func(r *engine.Request) { r.Choice = 1 }, func(r *engine.Request) { r.Attempt = 1 },
	} {
		r := base
		change(&r)
		a, b := fake.New(small(fake.Script{})), fake.New(small(fake.Script{}))
		generate(t, context.Background(), a, nil, base)
		generate(t, context.Background(), b, nil, r)
		if cmp.Equal(denoised(a)[0], denoised(b)[0]) {
			t.Errorf("choice %d, attempt %d start from the canvas of choice 0, attempt 0", r.Choice, r.Attempt)
		}
	}
}

// C16: an embedding of 48 rows, a tokenizer of 40 tokens, and logits that favour
// row 45. Neither noise nor samples ever reach the rows without a token.
func TestC16RowsWithoutToken(t *testing.T) {
	const rows, tokens, seeds = 48, 40, 10000
	config := fake.Config(rows, 4, 64)
	config.Noise = canvas.Noise{Count: tokens}
	favour := fake.Favour(25, 45)
	script := fake.Script{
		Denoise: func(fake.Pass, int) fake.Row { return favour },
		Next:    func([]int32) fake.Row { return favour },
	}
	var pieces []string
	for i := range tokens - first {
		pieces = append(pieces, string(rune('A'+i)))
	}
	tok := words(t, pieces...)
	var seen [rows]int
	count := func(seed uint64, ids []int32) {
		for _, id := range ids {
			if id < 0 || id >= tokens {
				t.Fatalf("seed %d: id %d has no token", seed, id)
			}
			seen[id]++
		}
	}
	for seed := range uint64(seeds) {
		r := diffuse(3)
		r.Mode = []engine.Mode{engine.Diffusion, engine.Autoregressive}[seed%2]
		r.Seed, r.MaxTokens, r.Drafts = seed, 4, true
		r.Sampler.Steps, r.Temperature, r.Candidates.Temperature = 2, 3, 3
		r.Guards = engine.Guards{}
		b := fake.New(fake.Options{Config: config, Script: script})
		for e, err := range engine.New(b, tok).Generate(context.Background(), r) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case *engine.Draft:
				count(seed, e.Current)
				count(seed, e.Best)
			case *engine.Committed:
				count(seed, e.IDs)
			}
		}
		for _, ids := range denoised(b) {
			count(seed, ids)
		}
	}
	for id, n := range seen[:tokens] {
		if n == 0 {
			t.Errorf("id %d was never drawn", id)
		}
	}
}

// The same request gives the same answer whether anyone watches the drafts and
// in whatever chunks the prompt is committed. On failure rapid prints the
// request that replays it.
func TestMetamorphic(t *testing.T) {
	tok := words(t, "a", "b", "ab", "ba", " ", "<0xE2>", "<0x82>", "<0xAC>", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n")
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.Int32Range(0, 23)
		temper := rapid.Float32Range(0.2, 2)
		r := diffuse(rapid.SliceOfN(ids, 1, 20).Draw(rt, "prompt")...)
		r.Mode = rapid.SampledFrom([]engine.Mode{engine.Diffusion, engine.Autoregressive}).Draw(rt, "mode")
		r.Seed = rapid.Uint64().Draw(rt, "seed")
		r.Choice = rapid.IntRange(0, 3).Draw(rt, "choice")
		r.MaxTokens = rapid.IntRange(0, 40).Draw(rt, "max tokens")
		r.Canvas = rapid.IntRange(1, 8).Draw(rt, "canvas")
		r.Sampler.Steps = rapid.IntRange(1, 6).Draw(rt, "steps")
		r.Sampler.Confidence = rapid.Float32Range(0.001, 3).Draw(rt, "confidence")
		r.Sampler.EntropyBound = rapid.Float32Range(0.01, 5).Draw(rt, "entropy bound")
		r.Temperature = temper.Draw(rt, "temperature")
		r.Candidates.Temperature = temper.Draw(rt, "candidates")
		r.Filter.TopK = rapid.IntRange(0, 5).Draw(rt, "top k")
		r.Stop = rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab ")), 1, 4, -1), 0, 2).Draw(rt, "stop")
		r.Guards = engine.Guards{On: rapid.Bool().Draw(rt, "guards"), Entropy: rapid.Float32Range(0, 3).Draw(rt, "guard entropy")}
		if r.Mode == engine.Diffusion {
			for range rapid.IntRange(0, min(3, r.Canvas)).Draw(rt, "pinned") {
				r.Cells = append(r.Cells, canvas.Cell{Kind: canvas.Pinned, ID: ids.Draw(rt, "cell")})
			}
		}
		bad := rapid.IntRange(0, 30).Draw(rt, "a step with NaN")
		o := small(fake.Script{})
		if bad < 6 {
			o.Script.Denoise = func(p fake.Pass, row int) fake.Row {
				if len(p.Prefix)+p.Step == len(r.Prompt)+bad && row == 0 && !p.Redraw {
					return fake.NaN()
				}
				return fake.Hashed(uint64(len(p.Prefix)*1000+p.Step*100+row) * 31)
			}
		}
		want := generate(t, context.Background(), fake.New(o), tok, r)
		for _, chunk := range []int{1, 3, len(r.Prompt)} {
			other := r
			other.PrefillChunk, other.Drafts = chunk, chunk != 3
			got := generate(t, context.Background(), fake.New(o), tok, other)
			if fmt.Sprint(got.err) != fmt.Sprint(want.err) {
				rt.Fatalf("chunks of %d: error %v, want %v", chunk, got.err, want.err)
			}
			sameFinished(t, fmt.Sprintf("chunks of %d", chunk), got.finished, want.finished)
			if got.err == nil && !slices.IsSortedFunc(got.finished.Canvases, func(a, b engine.CanvasReport) int { return a.Index - b.Index }) {
				rt.Fatalf("canvases out of order: %+v", got.finished.Canvases)
			}
		}
	})
}

// replay gives ids that were recorded.
type replay struct{}

func (replay) ID(at canvas.Address) int32 {
	if at.Purpose == canvas.PurposeInitial {
		return int32(10 + at.Position)
	}
	return int32(20 + at.Step)
}

// A request may bring its own starting and renoised ids.
func TestReplayedDraws(t *testing.T) {
	b := fake.New(small(fake.Script{Denoise: func(_ fake.Pass, row int) fake.Row {
		if row == 3 { // accepted first; one more is, for what is accepted before it sums to 0
			return fake.Certain(5)
		}
		return fake.Uniform()
	}}))
	r := diffuse(3)
	r.Draws, r.MaxTokens, r.Guards = replay{}, 4, engine.Guards{}
	generate(t, context.Background(), b, nil, r)
	for i, ids := range denoised(b) {
		free := slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return id < 10 || id != int32(19+i) })
		if i == 0 && !slices.Equal(ids, []int32{10, 11, 12, 13}) || i > 0 && (len(free) != 2 || ids[3] != 5) {
			t.Errorf("step %d began with %v", i, ids)
		}
	}
}
