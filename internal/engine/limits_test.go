package engine_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model/fake"
)

func letters(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(first + i%20)
	}
	return ids
}

func TestMaxTokens(t *testing.T) {
	for _, mode := range []engine.Mode{engine.Diffusion, engine.Autoregressive} {
		for limit := 1; limit <= 10; limit++ {
			r := diffuse(9, 9)
			r.Mode, r.MaxTokens = mode, limit
			f := run(t, small(spell(2, letters(30)...)), nil, r).finished
			if diff := cmp.Diff(letters(limit), f.IDs); diff != "" || f.Reason != engine.FinishLength {
				t.Errorf("%s, at most %d tokens: reason %s, ids (-want +got):\n%s", mode, limit, f.Reason, diff)
			}
		}
	}
	// Nothing is cut off an answer that ends by itself on its last token.
	r := diffuse(9, 9)
	for limit, want := range map[int]engine.FinishReason{4: engine.FinishLength, 5: engine.FinishLength, 6: engine.FinishStop, 7: engine.FinishStop} {
		r.MaxTokens = limit
		if f := run(t, small(spell(2, letters(6)...)), nil, r).finished; f.Reason != want || len(f.IDs) != min(6, limit) {
			t.Errorf("an answer of 6 tokens, at most %d: %s after %d", limit, f.Reason, len(f.IDs))
		}
	}
}

func TestContextLimit(t *testing.T) {
	for _, mode := range []engine.Mode{engine.Diffusion, engine.Autoregressive} {
		for prompt := 50; prompt < 64; prompt++ {
			r := diffuse(repeat(9, prompt)...)
			r.Mode = mode
			f := run(t, small(spell(prompt, letters(100)...)), nil, r).finished
			if diff := cmp.Diff(letters(64-prompt), f.IDs); diff != "" || f.Reason != engine.FinishLength {
				t.Errorf("%s, prompt of %d: reason %s, ids (-want +got):\n%s", mode, prompt, f.Reason, diff)
			}
		}
	}
	// The last canvas is shortened to fit.
	f := run(t, small(spell(58, letters(100)...)), nil, diffuse(repeat(9, 58)...)).finished
	var lengths []int
	for _, c := range f.Canvases {
		lengths = append(lengths, c.Length)
	}
	if diff := cmp.Diff([]int{4, 2}, lengths); diff != "" {
		t.Errorf("lengths of canvases (-want +got):\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	config := fake.Config(24, 8, 1024)
	tok := words(t, "a")
	causal := fake.Config(24, 0, 1024)
	nan := float32(math.NaN())
	tests := []struct {
		name          string
		change        func(*engine.Request)
		field, reason string
	}{
		{"fine", func(*engine.Request) {}, "", ""},
		{"fits exactly", func(r *engine.Request) { r.Prompt, r.MaxTokens = repeat(5, 924), 100 }, "", ""},
		{
			"max_tokens does not fit", func(r *engine.Request) { r.Prompt, r.MaxTokens = repeat(5, 1000), 100 },
			"max_tokens", "prompt 1,000 + max_tokens 100 = 1,100 tokens; the model's limit is 1,024",
		},
		{
			"huge max_tokens", func(r *engine.Request) { r.MaxTokens = math.MaxInt64 },
			"max_tokens", "prompt 2 + max_tokens 9,223,372,036,854,775,807 = 9,223,372,036,854,775,809 tokens; the model's limit is 1,024",
		},
		{"negative max_tokens", func(r *engine.Request) { r.MaxTokens = -1 }, "max_tokens", "-1 is negative"},
		{
			"no room", func(r *engine.Request) { r.Prompt = repeat(5, 1024) },
			"prompt", "prompt 1,024 + 1 for an answer = 1,025 tokens; the model's limit is 1,024",
		},
		{"no prompt", func(r *engine.Request) { r.Prompt = nil }, "prompt", "it has no tokens"},
		{"id", func(r *engine.Request) { r.Prompt = []int32{5, 24} }, "prompt", "id 24 at index 1 is not in 0 … 23"},
		{"negative id", func(r *engine.Request) { r.Prompt = []int32{-1} }, "prompt", "id -1 at index 0 is not in 0 … 23"},
		{"mode", func(r *engine.Request) { r.Mode = "beam" }, "mode", `"beam" is not one of "diffusion", "ar"`},
		{"stop", func(r *engine.Request) { r.Stop = []string{"a", ""} }, "stop[1]", "it is empty"},
		{"end", func(r *engine.Request) { r.End = []int32{24} }, "end", "id 24 at index 0 is not in 0 … 23"},
		{"pad", func(r *engine.Request) { r.Pad = -2 }, "pad", "id -2 is neither -1 nor in 0 … 23"},
		{"choice", func(r *engine.Request) { r.Choice = 65536 }, "choice", "65536 is not in 0 … 65535"},
		{"attempt", func(r *engine.Request) { r.Attempt = 128 }, "attempt", "128 is not in 0 … 127"},
		{"canvas 0", func(r *engine.Request) { r.Canvas = 0 }, "canvas", "length 0 is not in 1 … 8"},
		{"canvas", func(r *engine.Request) { r.Canvas = 9 }, "canvas", "length 9 is not in 1 … 8"},
		{"cells", func(r *engine.Request) { r.Cells = make([]canvas.Cell, 5) }, "infill", "5 positions for a canvas of 4"},
		{
			"cells before the limit", func(r *engine.Request) { r.Prompt, r.Cells = repeat(5, 1021), make([]canvas.Cell, 4) },
			"infill", "4 positions for a canvas of 3",
		},
		{
			"cell", func(r *engine.Request) { r.Cells = []canvas.Cell{{}, {Kind: canvas.Pinned, ID: 24}} },
			"infill", "id 24 at position 1 is not in 0 … 23",
		},
		{"cell kind", func(r *engine.Request) { r.Cells = []canvas.Cell{{Kind: 9}} }, "infill", "position 0 has the unknown kind 9"},
		{
			"cells in ar", func(r *engine.Request) { r.Mode, r.Cells = engine.Autoregressive, make([]canvas.Cell, 1) },
			"infill", `the mode "ar" has no canvas to place tokens in`,
		},
		{"candidates", func(r *engine.Request) { r.Candidates.Temperature = nan }, "temperature", "NaN is not a finite number ≥ 0"},
		{"top-k", func(r *engine.Request) { r.Candidates.Filter.TopK = -1 }, "top_k", "-1 is negative"},
		{"top-p", func(r *engine.Request) { r.Candidates.Filter.TopP = 1.5 }, "top_p", "1.5 is not in 0 … 1"},
		{"min-p", func(r *engine.Request) { r.Candidates.Filter.MinP = nan }, "min_p", "NaN is not in 0 … 1"},
		{
			"temperature of ar", func(r *engine.Request) { r.Mode, r.Temperature = engine.Autoregressive, -1 },
			"temperature", "-1 is not a finite number ≥ 0",
		},
		{"chunk", func(r *engine.Request) { r.PrefillChunk = -1 }, "prefill_chunk", "-1 is negative"},
		{"guard", func(r *engine.Request) { r.Guards.Entropy = nan }, "guard_entropy", "NaN is not a number of nats ≥ 0"},
		{"steps", func(r *engine.Request) { r.Sampler.Steps = 0 }, "steps", "0 is not in 1 … 65535"},
		{"max steps", func(r *engine.Request) { r.Sampler.MaxSteps = -1 }, "max_steps", "-1 is not in 0 … 65535"},
		{"t min", func(r *engine.Request) { r.Sampler.TMin = -1 }, "t_min", "-1 is not in 0 … 1e+06"},
		{"t max", func(r *engine.Request) { r.Sampler.TMax = 0 }, "t_max", "0 is not above the 0.4 of TMin"},
		{"entropy bound", func(r *engine.Request) { r.Sampler.EntropyBound = 0 }, "entropy_bound", "0 is not above 0 and at most 1e+06 nats"},
		{"stability", func(r *engine.Request) { r.Sampler.Stability = -1 }, "stability", "-1 is not in 0 … 65535"},
		{"confidence", func(r *engine.Request) { r.Sampler.Confidence = nan }, "confidence", "NaN is not above 0 and at most 1e+06 nats"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := fake.New(fake.Options{Config: config, Script: spell(2, 4, 5)})
			r := diffuse(5, 6)
			test.change(&r)
			err := engine.New(b, tok).Check(r)
			if test.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !isRequestError(err, test.field) || err.Error() != test.field+": "+test.reason {
				t.Errorf("error %v, want %s: %s", err, test.field, test.reason)
			}
			// Generate refuses it as well, before any work.
			if h := generate(t, context.Background(), b, tok, r); !isRequestError(h.err, test.field) || len(h.lines) > 0 || len(b.Calls) > 0 {
				t.Errorf("Generate: error %v after %q and %d calls", h.err, h.lines, len(b.Calls))
			}
		})
	}
	r := diffuse(5, 6)
	if err := engine.New(fake.New(fake.Options{Config: causal}), tok).Check(r); !isRequestError(err, "mode") {
		t.Errorf("diffusion without a decoder: %v", err)
	}
	r.Stop = []string{"a"}
	if err := engine.New(fake.New(fake.Options{Config: config}), nil).Check(r); !isRequestError(err, "stop") {
		t.Errorf("stop texts without a tokenizer: %v", err)
	}
}
