package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/fake"
	"github.com/frescolm/fresco/tokenizer"
)

// Ids of the special tokens of every tokenizer here.
const (
	pad, end, bos = 0, 1, 2
	first         = 4 // of the other pieces
)

// words is a tokenizer of the given pieces, which get ids from first on. A space
// in a piece is a space of the text.
func words(t testing.TB, pieces ...string) *tokenizer.Tokenizer {
	t.Helper()
	vocab := map[string]int{}
	var added []map[string]any
	for id, s := range []string{"<pad>", "<eos>", "<bos>", "<unk>"} {
		vocab[s] = id
		added = append(added, map[string]any{
			"id": id, "content": s, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true,
		})
	}
	for i, s := range pieces {
		vocab[strings.ReplaceAll(s, " ", "▁")] = first + i
	}
	data, err := json.Marshal(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
		"normalizer":    map[string]any{"type": "Replace", "pattern": map[string]any{"String": " "}, "content": "▁"},
		"pre_tokenizer": nil, "post_processor": nil,
		"decoder": map[string]any{"type": "Sequence", "decoders": []any{
			map[string]any{"type": "Replace", "pattern": map[string]any{"String": "▁"}, "content": " "},
			map[string]any{"type": "ByteFallback"}, map[string]any{"type": "Fuse"},
		}},
		"model": map[string]any{
			"type": "BPE", "dropout": nil, "unk_token": "<unk>", "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": true, "byte_fallback": true, "ignore_merges": false, "vocab": vocab, "merges": []any{},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// spell scripts an answer by absolute position, so that it is the same for every
// canvas length and in both modes: ids after the prompt, then end tokens.
func spell(prompt int, ids ...int32) fake.Script {
	at := func(position int) fake.Row {
		if k := position - prompt; k < len(ids) {
			return fake.Certain(ids[k])
		}
		return fake.Certain(end)
	}
	return fake.Script{
		Denoise: func(p fake.Pass, row int) fake.Row { return at(len(p.Prefix) + row) },
		Next:    func(prefix []int32) fake.Row { return at(len(prefix)) },
	}
}

// diffuse is a request in diffusion mode with a canvas of four.
func diffuse(prompt ...int32) engine.Request {
	return engine.Request{
		Prompt: prompt, Mode: engine.Diffusion, Canvas: 4, Seed: 7,
		Sampler: diffusion.Settings{
			Steps: 4, TMin: 0.4, TMax: 0.8, EntropyBound: 0.1, Stability: 1, Confidence: 0.005,
		},
		Candidates: canvas.Candidates{Temperature: 1},
		End:        []int32{end}, Pad: pad,
		Guards: engine.Guards{On: true, Entropy: 1},
	}
}

func autoregress(prompt ...int32) engine.Request {
	r := diffuse(prompt...)
	r.Mode = engine.Autoregressive
	return r
}

// A history is what came out of Generate.
type history struct {
	lines    []string // one for each event
	started  engine.Started
	finished engine.Finished
	err      error
}

// generate runs a request and checks what holds for every one of them: the
// events stand in order, what was committed is the answer, and everything is
// released.
func generate(t testing.TB, ctx context.Context, b *fake.Backend, tok *tokenizer.Tokenizer, r engine.Request) history {
	t.Helper()
	var h history
	var ids = []int32{}
	var text strings.Builder
	done := false
	for event, err := range engine.New(b, tok).Generate(ctx, r) {
		if done {
			t.Fatalf("event %T after the end; before it %q", event, h.lines)
		}
		if err != nil {
			if event != nil {
				t.Fatalf("event %T beside error %v", event, err)
			}
			h.err, done = err, true
			continue
		}
		if _, isStarted := event.(*engine.Started); isStarted != (len(h.lines) == 0) {
			t.Fatalf("event %T after %q", event, h.lines)
		}
		h.lines = append(h.lines, line(event))
		switch e := event.(type) {
		case *engine.Started:
			h.started = *e
		case *engine.Committed:
			ids = append(ids, e.IDs...)
			text.WriteString(e.Text)
		case *engine.Finished:
			h.finished, done = *e, true
		}
	}
	if !done {
		t.Fatalf("the iteration ended without Finished or an error, after %q", h.lines)
	}
	if h.err == nil {
		if diff := cmp.Diff(h.finished.IDs, ids); diff != "" {
			t.Fatalf("ids of Finished (-) and of all Committed (+):\n%s", diff)
		}
		if text.String() != h.finished.Text {
			t.Fatalf("text of all Committed %q, of Finished %q", text.String(), h.finished.Text)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

// run is generate without cancellation and without an error.
func run(t testing.TB, o fake.Options, tok *tokenizer.Tokenizer, r engine.Request) history {
	t.Helper()
	h := generate(t, context.Background(), fake.New(o), tok, r)
	if h.err != nil {
		t.Fatal(h.err)
	}
	return h
}

func line(event engine.Event) string {
	switch e := event.(type) {
	case *engine.Started:
		return fmt.Sprintf("started: %d tokens, seed %d, %s", e.PromptTokens, e.Seed, e.Mode)
	case *engine.Prefilled:
		return fmt.Sprintf("prefilled %d/%d", e.Done, e.Total)
	case *engine.Draft:
		redraw := ""
		if e.Redraw {
			redraw = " again"
		}
		return fmt.Sprintf("draft %d%s: step %d/%d %v", e.Canvas, redraw, e.Step, e.Steps, e.Best)
	case *engine.Committed:
		return fmt.Sprintf("committed %v %q", e.IDs, e.Text)
	case *engine.Finished:
		return fmt.Sprintf("finished: %s", e.Reason)
	}
	return fmt.Sprintf("%T", event)
}

// sameFinished compares two answers but for the time they took.
func sameFinished(t testing.TB, what string, got, want engine.Finished) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(engine.Finished{}, "Timing")); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// small is a fake with a vocabulary of 24 and a canvas of up to eight.
func small(script fake.Script) fake.Options {
	return fake.Options{Config: fake.Config(24, 8, 64), Script: script}
}

// denoised lists the ids that every denoising step began with.
func denoised(b *fake.Backend) [][]int32 {
	var all [][]int32
	for _, c := range b.Calls {
		if !c.Encode {
			all = append(all, c.IDs)
		}
	}
	return all
}

// encoded lists the ids of every Encode that had any.
func encoded(b *fake.Backend) [][]int32 {
	var all [][]int32
	for _, c := range b.Calls {
		if c.Encode && c.Tokens > 0 {
			all = append(all, c.IDs)
		}
	}
	return all
}

// atStep calls f at the n-th step of a backend, from 0.
func atStep(n int, f func(context.Context) error) func(context.Context, []model.Item) error {
	count := -1
	return func(ctx context.Context, _ []model.Item) error {
		if count++; count == n {
			return f(ctx)
		}
		return nil
	}
}

func isRequestError(err error, field string) bool {
	var e *engine.RequestError
	return errors.As(err, &e) && e.Field == field
}

func repeat(id int32, n int) []int32 { return slices.Repeat([]int32{id}, n) }
