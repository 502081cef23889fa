package fresco

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T) *Model {
	t.Helper()
	m, err := Open("sudoku", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// The zero value of Options asks for what the checkpoint's generation_config
// says, except for its max_new_tokens.
func TestDefaultsAreTheCheckpoints(t *testing.T) {
	m := open(t)
	r, err := m.resolve(Options{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	want := diffusion.Settings{Steps: 48, TMin: 0.4, TMax: 0.8, EntropyBound: 0.1, Stability: 1, Confidence: 0.005}
	if diff := cmp.Diff(want, r.Sampler); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if r.Mode != Diffusion || r.MaxTokens != 0 || r.Canvas != 96 || r.Candidates.Temperature != 1 {
		t.Errorf("got mode %q, max tokens %d, canvas %d, candidates at %v", r.Mode, r.MaxTokens, r.Canvas, r.Candidates.Temperature)
	}
	if diff := cmp.Diff(engine.Guards{On: true, Entropy: 1}, r.Guards); diff != "" {
		t.Errorf("guards (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{1, 6}, r.End); diff != "" {
		t.Errorf("end tokens (-want +got):\n%s", diff)
	}
	if err := m.Validate(Options{Prompt: "x"}); err != nil {
		t.Error(err)
	}
}

func TestFreshSeeds(t *testing.T) {
	m := open(t)
	seen := map[uint64]bool{}
	for range 100 {
		r, err := m.resolve(Options{Prompt: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if r.Seed >= 1<<53 {
			t.Errorf("seed %d does not survive a JSON reader", r.Seed)
		}
		seen[r.Seed] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d different seeds of 100", len(seen))
	}
	zero := uint64(0)
	if r, err := m.resolve(Options{Prompt: "x", Seed: &zero}); err != nil || r.Seed != 0 {
		t.Errorf("seed 0 became %d (%v)", r.Seed, err)
	}
}

func TestOptionsReplaceDefaults(t *testing.T) {
	m := open(t)
	r, err := m.resolve(Options{
		Prompt: "x", Steps: 10, MaxSteps: 3, TMin: Value(0.1), TMax: Off(), EntropyBound: Value(2),
		Stability: Off(), Confidence: Value(0.5), Temperature: Value(0), GuardEntropy: Off(), Canvas: 12,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := diffusion.Settings{
		Steps: 10, MaxSteps: 3, TMin: 0.1, TMax: 0.8, TemperatureOff: true,
		EntropyBound: 2, Stability: 1, StabilityOff: true, Confidence: 0.5,
	}
	if diff := cmp.Diff(want, r.Sampler); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if r.Candidates.Temperature != 0 || r.Guards.Entropy != 0 || !r.Guards.On || !r.CapLowered || r.Canvas != 12 {
		t.Errorf("got %+v", r)
	}
	r, err = m.resolve(Options{Prompt: "x", Mode: Autoregressive, Temperature: Value(0.5), TopK: 3, TopP: 0.9, NoGuards: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Temperature != 0.5 || r.Filter.TopK != 3 || r.Filter.TopP != 0.9 || r.Guards.On {
		t.Errorf("got %+v", r)
	}
}

func TestPrompts(t *testing.T) {
	m := open(t)
	for name, test := range map[string]struct {
		options Options
		want    []int32
	}{
		"ids":         {Options{IDs: []int32{5, 17}}, []int32{5, 17}},
		"ids and raw": {Options{IDs: []int32{5, 17}, Raw: true}, []int32{5, 17}},
		"raw":         {Options{Prompt: "ab", Raw: true}, []int32{2, 98, 99}},
		"raw, empty":  {Options{Raw: true}, []int32{2}},
		"other text":  {Options{Prompt: "ab"}, []int32{2, 98, 99}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := m.resolve(test.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, r.Prompt); diff != "" {
				t.Errorf("prompt (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	m := open(t)
	for field, options := range map[string]Options{
		"ids":           {Prompt: "x", IDs: []int32{1}},
		"prompt":        {},
		"infill":        {Prompt: "x", Infill: "⟦"},
		"mode":          {Prompt: "x", Mode: "both"},
		"entropy_bound": {Prompt: "x", EntropyBound: Off()},
		"stability":     {Prompt: "x", Stability: Value(0.5)},
		"t_max":         {Prompt: "x", TMin: Value(0.9)},
		"t_min":         {Prompt: "x", TMin: Value(math.NaN())},
		"confidence":    {Prompt: "x", Confidence: Value(-1)},
		"temperature":   {Prompt: "x", Temperature: Value(0.5)},
		"top_k":         {Prompt: "x", TopK: 3},
		"top_p":         {Prompt: "x", TopP: 0.5},
		"steps":         {Prompt: "x", Mode: Autoregressive, Steps: 3},
		"max_tokens":    {Prompt: "x", MaxTokens: -1},
		"canvas":        {Prompt: "x", Canvas: 97},
		"attempt":       {Prompt: "x", Attempt: 128},
		"stop[1]":       {Prompt: "x", Stop: []string{"a", ""}},
		"prefill_chunk": {Prompt: "x", PrefillChunk: -1},
		"guard_entropy": {Prompt: "x", GuardEntropy: Value(0)},
	} {
		t.Run(field, func(t *testing.T) {
			var refused *RequestError
			if err := m.Validate(options); !errors.As(err, &refused) || refused.Field != field {
				t.Errorf("Validate: %v", err)
			}
			result, err := m.Answer(context.Background(), options)
			if !errors.As(err, &refused) || result != nil {
				t.Errorf("Answer: %v, %v", result, err)
			}
		})
	}
}

// A value that float32 makes 0 or infinity of must not become "everything", "off"
// or "the most likely".
func TestBeyondFloat32(t *testing.T) {
	m := open(t)
	for _, v := range []float64{1e-60, 1e60, math.Inf(1)} {
		for field, options := range map[string]Options{
			"entropy_bound": {EntropyBound: Value(v)},
			"confidence":    {Confidence: Value(v)},
			"guard_entropy": {GuardEntropy: Value(v)},
			"t_min":         {TMin: Value(v)},
			"t_max":         {TMin: Value(0), TMax: Value(v)},
			"top_p":         {Mode: Autoregressive, TopP: v},
			"temperature":   {Mode: Autoregressive, Temperature: Value(v)},
		} {
			options.Prompt = "x"
			var refused *RequestError
			if err := m.Validate(options); !errors.As(err, &refused) || refused.Field != field {
				t.Errorf("%s of %v: %v", field, v, err)
			}
		}
	}
	if err := m.Validate(Options{Prompt: "x", Mode: Autoregressive, GuardEntropy: Value(2)}); err == nil {
		t.Error("guard_entropy passes in a mode that has no canvas")
	}
}

func TestCancelled(t *testing.T) {
	m := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	result, err := m.Answer(ctx, Options{Prompt: "x"})
	if !errors.Is(err, context.Canceled) || result == nil || result.Reason != FinishCancelled {
		t.Errorf("got %+v, %v", result, err)
	}
}
