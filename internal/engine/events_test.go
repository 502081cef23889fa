package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/fake"
)

func TestEventsOfDiffusion(t *testing.T) {
	tok := words(t, "one", " two", " three", " four", " five")
	b := fake.New(small(spell(3, 4, 5, 6, 7, 8)))
	r := diffuse(9, 9, 9)
	r.PrefillChunk = 2
	r.Drafts = true
	h := generate(t, context.Background(), b, tok, r)
	want := []string{
		"started: 3 tokens, seed 7, diffusion",
		"prefilled 2/3",
		"prefilled 3/3",
		"draft 0: step 1/4 [4 5 6 7]",
		"draft 0: step 2/4 [4 5 6 7]",
		`committed [4 5 6 7] "one two three four"`,
		"draft 1: step 1/4 [8 1 1 1]",
		"draft 1: step 2/4 [8 1 1 1]",
		`committed [8] " five"`,
		"finished: stop",
	}
	if diff := cmp.Diff(want, h.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	sameFinished(t, "finished", h.finished, engine.Finished{
		Text: "one two three four five", IDs: []int32{4, 5, 6, 7, 8}, Reason: engine.FinishStop,
		Canvases: []engine.CanvasReport{
			{Index: 0, Length: 4, Steps: 2, Stop: engine.StopConverged, Accepted: 4, Kept: 4},
			{Index: 1, Length: 4, Steps: 2, Stop: engine.StopConverged, Accepted: 4, Kept: 1, End: true},
		},
		Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 5, ComputedTokens: 8, Forwards: 4},
	})
	// The first canvas is handed over, the last one never is.
	if diff := cmp.Diff([][]int32{{9, 9}, {9}, {4, 5, 6, 7}}, encoded(b)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
}

func TestEventsOfAutoregression(t *testing.T) {
	tok := words(t, "one", " two", " three")
	b := fake.New(small(spell(3, 4, 5, 6)))
	h := generate(t, context.Background(), b, tok, autoregress(9, 9, 9))
	want := []string{
		"started: 3 tokens, seed 7, ar",
		"prefilled 3/3",
		`committed [4] "one"`,
		`committed [5] " two"`,
		`committed [6] " three"`,
		"finished: stop",
	}
	if diff := cmp.Diff(want, h.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	sameFinished(t, "finished", h.finished, engine.Finished{
		Text: "one two three", IDs: []int32{4, 5, 6}, Reason: engine.FinishStop,
		Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 3, ComputedTokens: 4, Forwards: 3},
	})
	if diff := cmp.Diff([][]int32{{9, 9, 9}, {4}, {5}, {6}}, encoded(b)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
	for i, c := range b.Calls[1:] {
		want := canvas.Address{Seed: 7, Position: uint32(3 + i), Purpose: canvas.PurposeToken}
		if c.Draw != want {
			t.Errorf("token %d was drawn at %+v, want %+v", i, c.Draw, want)
		}
	}
}

// Autoregressive draws follow the seed and the filter, and argmax needs neither.
func TestAutoregressiveDraws(t *testing.T) {
	script := fake.Script{Next: func([]int32) fake.Row { return fake.Favour(3, 10, 11) }}
	answer := func(change func(*engine.Request)) []int32 {
		r := autoregress(9)
		r.MaxTokens = 40
		r.Temperature = 1
		change(&r)
		return run(t, small(script), nil, r).finished.IDs
	}
	plain := answer(func(*engine.Request) {})
	if diff := cmp.Diff(plain, answer(func(*engine.Request) {})); diff != "" {
		t.Errorf("the same request twice:\n%s", diff)
	}
	if cmp.Equal(plain, answer(func(r *engine.Request) { r.Seed = 8 })) {
		t.Error("another seed drew the same 40 tokens")
	}
	if cmp.Equal(plain, answer(func(r *engine.Request) { r.Choice = 1 })) {
		t.Error("another choice drew the same 40 tokens")
	}
	if cmp.Equal(plain, answer(func(r *engine.Request) { r.Attempt = 1 })) {
		t.Error("another attempt drew the same 40 tokens")
	}
	var seen [24]bool
	for _, id := range answer(func(r *engine.Request) { r.Filter.TopK = 2 }) {
		seen[id] = true
	}
	if want := [24]bool{10: true, 11: true}; seen != want {
		t.Errorf("top-k 2 drew %v", seen)
	}
	if diff := cmp.Diff(repeat(10, 40), answer(func(r *engine.Request) { r.Temperature = 0 })); diff != "" {
		t.Errorf("temperature 0:\n%s", diff)
	}
}

// Whoever breaks off after any event gets nothing more, and nothing stays
// behind.
func TestConsumerBreaksOff(t *testing.T) {
	for _, r := range []engine.Request{diffuse(9, 9, 9), autoregress(9, 9, 9)} {
		r.PrefillChunk, r.Drafts = 1, true
		all := len(run(t, small(spell(3, 4, 5, 6, 7, 8, 9)), nil, r).lines)
		for n := 1; n <= all; n++ {
			b := fake.New(small(spell(3, 4, 5, 6, 7, 8, 9)))
			count := 0
			for range engine.New(b, nil).Generate(context.Background(), r) {
				if count++; count == n {
					break
				}
			}
			if err := b.Close(); err != nil || count != n {
				t.Errorf("%s, broken off after event %d of %d: %d events, %v", r.Mode, n, all, count, err)
			}
		}
	}
}

// A context that ends in any step, and one that ends while an event is looked
// at, gives what was committed by then.
func TestCancel(t *testing.T) {
	tok := words(t, "a", "b", "c", "d", "e", "f")
	const text = "abcdefabcdef"
	ids := []int32{4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8, 9}
	for _, r := range []engine.Request{diffuse(9, 9, 9), autoregress(9, 9, 9)} {
		r.PrefillChunk, r.Drafts = 2, true
		b := fake.New(small(spell(3, ids...)))
		whole := generate(t, context.Background(), b, tok, r)
		if whole.finished.Text != text {
			t.Fatalf("%s: text %q", r.Mode, whole.finished.Text)
		}
		texts := map[string]bool{}
		for n := range b.Calls {
			ctx, cancel := context.WithCancel(context.Background())
			o := small(spell(3, ids...))
			o.Before = atStep(n, func(ctx context.Context) error { // a slow step that waits for the context
				cancel()
				<-ctx.Done()
				return ctx.Err()
			})
			h := generate(t, ctx, fake.New(o), tok, r)
			checkCancelled(t, fmt.Sprintf("%s, step %d", r.Mode, n), h, text)
			texts[h.finished.Text] = true
		}
		if r.Mode == engine.Diffusion && !(texts[""] && texts["abcd"] && texts["abcdefab"]) {
			t.Errorf("texts of the cancelled answers: %v", texts)
		}
		for n := range whole.lines[:len(whole.lines)-1] {
			ctx, cancel := context.WithCancel(context.Background())
			b := fake.New(small(spell(3, ids...)))
			count := 0
			var last engine.Event
			for e, err := range engine.New(b, tok).Generate(ctx, r) {
				if err != nil {
					t.Fatal(err)
				}
				if count == n {
					cancel()
				}
				count++
				last = e
			}
			cancel()
			finished := last.(*engine.Finished)
			// After the last canvas no step follows that could notice.
			if finished.Reason != engine.FinishCancelled && finished.Text != text {
				t.Errorf("%s, cancelled at event %d: %s with %q", r.Mode, n, finished.Reason, finished.Text)
			}
			// The last draft of a canvas is followed by its text, whose commit notices.
			if count > n+3 && finished.Text != text {
				t.Errorf("%s, cancelled at event %d: %d events in all", r.Mode, n, count)
			}
		}
	}
}

func checkCancelled(t *testing.T, what string, h history, text string) {
	t.Helper()
	f := h.finished
	if h.err != nil || f.Reason != engine.FinishCancelled || !strings.HasPrefix(text, f.Text) {
		t.Errorf("%s: error %v, reason %s, text %q", what, h.err, f.Reason, f.Text)
	}
	if n := len(f.Canvases); n > 0 {
		for _, c := range f.Canvases[:n-1] {
			if c.Stop == engine.StopCancelled {
				t.Errorf("%s: a canvas before the last is reported as cancelled", what)
			}
		}
	}
}

func TestCancelledCanvasIsReported(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := small(spell(1, 4, 5, 6, 7, 8, 9))
	o.Before = atStep(5, func(ctx context.Context) error { cancel(); return nil }) // the second step of canvas 1
	h := generate(t, ctx, fake.New(o), nil, diffuse(9))
	want := []engine.CanvasReport{
		{Index: 0, Length: 4, Steps: 2, Stop: engine.StopConverged, Accepted: 4, Kept: 4},
		{Index: 1, Length: 4, Steps: 1, Stop: engine.StopCancelled, Accepted: 4},
	}
	if diff := cmp.Diff(want, h.finished.Canvases); diff != "" || h.finished.Reason != engine.FinishCancelled {
		t.Errorf("reason %s, canvases (-want +got):\n%s", h.finished.Reason, diff)
	}
}

// An error of the backend ends the iteration wherever it happens, and says
// where.
func TestBackendFails(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		request engine.Request
		parts   []string
	}{
		{diffuse(9, 9), []string{
			"engine: prompt: ", "engine: canvas 1, step 1: ", "engine: canvas 1, step 2: ", "engine: commit of canvas 1: ",
			"engine: canvas 2, step 1: ", "engine: canvas 2, step 2: ",
		}},
		{autoregress(9, 9), []string{"engine: prompt: ", "engine: token 2: ", "engine: token 3: "}},
	}
	for _, test := range tests {
		for n, part := range test.parts {
			o := small(spell(2, 4, 5, 6, 7, 8))
			o.Before = atStep(n, func(context.Context) error { return broken })
			h := generate(t, context.Background(), fake.New(o), nil, test.request)
			if !errors.Is(h.err, broken) || !strings.HasPrefix(h.err.Error(), part) {
				t.Errorf("%s: broken at step %d: error %v, want one of %q", test.request.Mode, n, h.err, part)
			}
		}
	}
}

// NaN while the prompt or a canvas is encoded is an error that names layer and
// position; drawing again would not help.
func TestNaNWhileEncoding(t *testing.T) {
	tests := []struct {
		position int
		want     string
	}{
		{2, "engine: prompt: NaN or infinity after layer 1 at position 2"},
		{5, "engine: commit of canvas 1: NaN or infinity after layer 1 at position 5"},
	}
	for _, guards := range []bool{true, false} {
		for _, test := range tests {
			o := small(spell(3, 4, 5, 6, 7, 8))
			o.Poison = func(position int, _ int32) (int, bool) { return 1, position == test.position }
			r := diffuse(9, 9, 9)
			r.PrefillChunk = 2
			r.Guards.On = guards
			h := generate(t, context.Background(), fake.New(o), nil, r)
			var nan *model.NonFinite
			if h.err == nil || h.err.Error() != test.want || !errors.As(h.err, &nan) {
				t.Errorf("error %v, want %s", h.err, test.want)
			}
		}
	}
}
