package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/fake"
)

// attempts scripts canvas number n by what is to be seen at its first and at its
// second attempt; other canvases are a token and the end.
func attempts(n int, once, again func(p fake.Pass, row int) fake.Row) fake.Script {
	return fake.Script{Denoise: func(p fake.Pass, row int) fake.Row {
		switch {
		case p.Number < n:
			return fake.Certain(int32(first + row))
		case p.Number > n:
			return fake.Certain(end)
		case p.Redraw:
			return again(p, row)
		}
		return once(p, row)
	}}
}

func good(_ fake.Pass, row int) fake.Row {
	if row < 2 {
		return fake.Certain(int32(10 + row))
	}
	return fake.Certain(end)
}

func nan(p fake.Pass, row int) fake.Row {
	if p.Step == 1 && row == 2 {
		return fake.NaN()
	}
	return fake.Certain(10)
}

func allPad(fake.Pass, int) fake.Row { return fake.Certain(pad) }
func allEnd(fake.Pass, int) fake.Row { return fake.Certain(end) }
func allBOS(fake.Pass, int) fake.Row { return fake.Certain(bos) }

func unsure(_ fake.Pass, row int) fake.Row {
	if row < 2 {
		return fake.Certain(int32(12 + row))
	}
	return fake.Uniform()
}

func TestGuards(t *testing.T) {
	tok := words(t, strings.Split("abcdefghijklmnopqrst", "")...)
	tests := []struct {
		name   string
		canvas int
		bad    func(fake.Pass, int) fake.Row
		saw    string // "" when no guard sees it; % is the number of the canvas
		text   string // after two bad attempts, without what came before
	}{
		{"NaN", 0, nan, "NaN or infinity in the logits at position 3", ""},
		{"NaN later", 2, nan, "NaN or infinity in the logits at position 11", ""},
		{"padding", 0, allPad, "only padding", ""},
		{"padding later", 1, allPad, "only padding", ""},
		{"end at once", 0, allEnd, "no visible text before the end token", ""},
		{"end at once later", 1, allEnd, "", ""},
		{"nothing visible", 0, allBOS, "no visible text", ""},
		{"unsure", 0, unsure, "step cap of 4 reached with a mean entropy of 1.59 nats, above 1", "ij"},
		{"unsure later", 1, unsure, "step cap of 4 reached with a mean entropy of 1.59 nats, above 1", "ij"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := strings.Repeat("abcd", test.canvas)
			r := diffuse(3)

			once := run(t, small(attempts(test.canvas, test.bad, good)), tok, r).finished
			if test.saw == "" {
				if once.Text != before || once.Reason != engine.FinishStop || once.Warnings != nil {
					t.Errorf("%s with %q, warnings %q", once.Reason, once.Text, once.Warnings)
				}
				return
			}
			if once.Text != before+"gh" || once.Reason != engine.FinishStop || once.Guard != "" {
				t.Errorf("bad once: %s (%s) with %q", once.Reason, once.Guard, once.Text)
			}
			if len(once.Warnings) != 1 || !strings.Contains(once.Warnings[0], test.saw) || !strings.HasSuffix(once.Warnings[0], "drawn again") {
				t.Errorf("bad once: warnings %q", once.Warnings)
			}
			reports := once.Canvases[test.canvas:]
			if len(reports) != 2 || reports[0].Stop != engine.StopGuard || reports[0].Redraw || reports[0].Kept != 0 ||
				reports[1].Stop != engine.StopConverged || !reports[1].Redraw || reports[1].Kept != 2 {
				t.Errorf("bad once: reports %+v", reports)
			}

			twice := run(t, small(attempts(test.canvas, test.bad, test.bad)), tok, r).finished
			if twice.Text[:len(before)] != before || twice.Reason != engine.FinishGuard || !strings.Contains(twice.Guard, test.saw) {
				t.Errorf("bad twice: %s (%s) with %q", twice.Reason, twice.Guard, twice.Text)
			}
			if rest := twice.Text[len(before):]; test.text == "" && rest != "" || !strings.HasPrefix(rest, test.text) {
				t.Errorf("bad twice: text %q after %q, want %q", rest, before, test.text)
			}
			if n := len(twice.Canvases); n != test.canvas+2 || twice.Canvases[n-1].Stop != engine.StopGuard || len(twice.Warnings) != 1 {
				t.Errorf("bad twice: %d canvases, warnings %q", n, twice.Warnings)
			} else if kept := twice.Canvases[n-1].Kept; kept != len(twice.IDs)-4*test.canvas || twice.Canvases[n-2].Kept != 0 {
				t.Errorf("bad twice: %d tokens kept of the last canvas, %d ids in all", kept, len(twice.IDs))
			}

			r.Guards = engine.Guards{}
			r.MaxTokens = 4 * (test.canvas + 1)
			off := generate(t, context.Background(), fake.New(small(attempts(test.canvas, test.bad, good))), tok, r)
			if strings.HasPrefix(test.name, "NaN") {
				if off.err == nil || !strings.Contains(off.err.Error(), "NaN or infinity") {
					t.Errorf("guards off: error %v", off.err)
				}
				return
			}
			if off.err != nil || off.finished.Reason == engine.FinishGuard || off.finished.Warnings != nil {
				t.Errorf("guards off: error %v, %+v", off.err, off.finished)
			}
		})
	}
}

// A redraw moves the draws of its canvas and of no other.
func TestRedrawMovesOneCanvas(t *testing.T) {
	hashed := func(bad bool) fake.Script {
		return fake.Script{Denoise: func(p fake.Pass, row int) fake.Row {
			if bad && p.Number == 1 && !p.Redraw {
				return fake.NaN()
			}
			return fake.Certain(int32(first + (len(p.Prefix)+row)%20))
		}}
	}
	r := diffuse(3)
	r.MaxTokens = 12
	plain, redrawn := fake.New(small(hashed(false))), fake.New(small(hashed(true)))
	generate(t, context.Background(), plain, nil, r)
	generate(t, context.Background(), redrawn, nil, r)
	// Two steps a canvas; of canvas 1 the first attempt has one.
	a, b := denoised(plain), denoised(redrawn)
	if len(a) != 6 || len(b) != 7 {
		t.Fatalf("%d and %d steps", len(a), len(b))
	}
	for _, pair := range [][2]int{{0, 0}, {1, 1}, {2, 2}, {4, 5}, {5, 6}} {
		if diff := cmp.Diff(a[pair[0]], b[pair[1]]); diff != "" {
			t.Errorf("step %d without and step %d with a redraw:\n%s", pair[0], pair[1], diff)
		}
	}
	if cmp.Equal(b[2], b[3]) {
		t.Errorf("the redrawn canvas starts from the same noise: %v", b[2])
	}
}

// The entropy guard keeps still when the cap is what the request asked for.
func TestEntropyGuardAndLoweredCap(t *testing.T) {
	tests := []struct {
		name   string
		change func(*engine.Request)
		want   engine.FinishReason
	}{
		{"cap of the checkpoint", func(*engine.Request) {}, engine.FinishGuard},
		{"max steps", func(r *engine.Request) { r.Sampler.MaxSteps = 3 }, engine.FinishLength},
		{"max steps at the cap", func(r *engine.Request) { r.Sampler.MaxSteps = 4 }, engine.FinishGuard},
		{"steps", func(r *engine.Request) { r.CapLowered = true }, engine.FinishLength},
		{"higher threshold", func(r *engine.Request) { r.Guards.Entropy = 2 }, engine.FinishLength},
		{"this guard off", func(r *engine.Request) { r.Guards.Entropy = 0 }, engine.FinishLength},
		{"all off", func(r *engine.Request) { r.Guards.On = false }, engine.FinishLength},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := diffuse(3)
			r.MaxTokens = 4
			test.change(&r)
			f := run(t, small(fake.Script{Denoise: unsure}), nil, r).finished
			if f.Reason != test.want {
				t.Errorf("%s (%s), want %s", f.Reason, f.Guard, test.want)
			}
			if len(f.IDs) != 4 {
				t.Errorf("%d ids of the text are left", len(f.IDs))
			}
		})
	}
}

// An answer that would end as a success without a text is no success.
func TestNeverAnEmptySuccess(t *testing.T) {
	tok := words(t, "a", "b", "c", "d", "e")
	greedy := autoregress(3)
	tests := []struct {
		name    string
		script  fake.Script
		request engine.Request
	}{
		{"end at once, ar", spell(1), greedy},
		{"nothing visible, ar", spell(1, bos, bos), greedy},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := run(t, small(test.script), tok, test.request).finished
			if f.Reason != engine.FinishGuard || f.Guard == "" || f.Text != "" {
				t.Errorf("%s (%s) with %q", f.Reason, f.Guard, f.Text)
			}
			test.request.Guards = engine.Guards{}
			if f := run(t, small(test.script), tok, test.request).finished; f.Reason != engine.FinishStop {
				t.Errorf("guards off: %s", f.Reason)
			}
		})
	}
	// Without a tokenizer ids count as text.
	if f := run(t, small(spell(1, bos)), nil, greedy).finished; f.Reason != engine.FinishStop {
		t.Errorf("an answer of one id: %s", f.Reason)
	}
	if f := run(t, small(spell(1)), nil, greedy).finished; f.Reason != engine.FinishGuard {
		t.Errorf("an answer of no ids: %s", f.Reason)
	}
	if f := run(t, small(spell(1)), nil, diffuse(3)).finished; f.Reason != engine.FinishGuard || len(f.Canvases) != 2 {
		t.Errorf("an answer of no ids, diffusion: %s after %d canvases", f.Reason, len(f.Canvases))
	}
}

// A stop text that matches at once is what the request asked for: the answer is
// empty, and a warning says why.
func TestStopAtOnce(t *testing.T) {
	tok := words(t, "a", "b", "c", "d", "e")
	for name, request := range map[string]engine.Request{"diffusion": diffuse(3), "ar": autoregress(3)} {
		request.Stop = []string{"ab"}
		f := run(t, small(spell(1, 4, 5, 6)), tok, request).finished
		if f.Reason != engine.FinishStop || f.Guard != "" || f.Text != "" || len(f.IDs) != 0 || len(f.Warnings) != 1 {
			t.Errorf("%s: %s (%s) with %q, %v, warnings %q", name, f.Reason, f.Guard, f.Text, f.IDs, f.Warnings)
		}
	}
}

func TestNaNInAutoregression(t *testing.T) {
	script := fake.Script{Next: func(prefix []int32) fake.Row {
		if len(prefix) == 4 {
			return fake.NaN()
		}
		return fake.Certain(5)
	}}
	r := autoregress(3, 3)
	f := run(t, small(script), nil, r).finished
	if diff := cmp.Diff([]int32{5, 5}, f.IDs); diff != "" || f.Reason != engine.FinishGuard ||
		f.Guard != "NaN or infinity in the logits at position 3" {
		t.Errorf("%s (%s), ids (-want +got):\n%s", f.Reason, f.Guard, diff)
	}
	r.Guards.On = false
	h := generate(t, context.Background(), fake.New(small(script)), nil, r)
	if h.err == nil || h.err.Error() != "engine: token 4: NaN or infinity in the logits at position 3" {
		t.Errorf("guards off: %v", h.err)
	}
}

func TestInfill(t *testing.T) {
	r := diffuse(3)
	r.Canvas, r.Drafts = 6, true
	r.Cells = []canvas.Cell{{Kind: canvas.Pinned, ID: 20}, {}, {Kind: canvas.Pinned, ID: 21}}
	script := spell(1, 4, 5, 6, 7, 8, 9, 10)
	free := script.Denoise
	script.Denoise = func(p fake.Pass, row int) fake.Row {
		if p.Number == 0 && row == 0 { // what the model believes of a pinned position does not matter
			return fake.Uniform()
		}
		return free(p, row)
	}
	b := fake.New(small(script))
	var pinned []bool
	for e, err := range engine.New(b, nil).Generate(context.Background(), r) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *engine.Draft:
			if e.Canvas == 0 {
				pinned = append([]bool(nil), e.Pinned...)
				if e.Entropy[0] != 0 || e.MeanEntropy != 0 || e.AcceptedCount != 4 || e.Accepted[0] || e.Best[0] != 20 || e.Current[2] != 21 {
					t.Errorf("draft %+v", *e)
				}
			} else if e.Pinned[0] || e.Pinned[2] {
				t.Errorf("canvas %d is pinned too: %v", e.Canvas, e.Pinned)
			}
		case *engine.Finished:
			if diff := cmp.Diff([]int32{20, 5, 21, 7, 8, 9, 10}, e.IDs); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		}
	}
	if diff := cmp.Diff([]bool{true, false, true, false, false, false}, pinned); diff != "" {
		t.Errorf("pinned (-want +got):\n%s", diff)
	}
	for _, ids := range denoised(b)[:2] {
		if ids[0] != 20 || ids[2] != 21 {
			t.Errorf("a step of the first canvas began with %v", ids)
		}
	}

	// With every position given no step is made, and a guard has nothing to draw
	// again.
	r = diffuse(3)
	r.Cells = []canvas.Cell{{Kind: canvas.Pinned, ID: 20}, {Kind: canvas.Pinned, ID: 21}, {Kind: canvas.Pinned, ID: end}, {Kind: canvas.Pinned}}
	h := run(t, small(spell(1, 4)), nil, r)
	sameFinished(t, "all pinned", h.finished, engine.Finished{
		IDs: []int32{20, 21}, Reason: engine.FinishStop,
		Canvases: []engine.CanvasReport{{Length: 4, Stop: engine.StopPinned, Kept: 2, End: true}},
		Usage:    engine.Usage{PromptTokens: 1, CompletionTokens: 2, ComputedTokens: 4},
	})
	r.Cells[0].ID = end
	f := run(t, small(spell(1, 4)), nil, r).finished
	if f.Reason != engine.FinishGuard || len(f.Canvases) != 1 || len(f.Warnings) != 0 {
		t.Errorf("all pinned and empty: %s after %d canvases, warnings %q", f.Reason, len(f.Canvases), f.Warnings)
	}
}

// quiet is a backend that reports NaN in logits with the row alone.
type quiet struct{ *fake.Backend }

func (q quiet) Step(ctx context.Context, items []model.Item) ([]model.Result, error) {
	results, err := q.Backend.Step(ctx, items)
	for i := range results {
		results[i].NonFinite = nil
	}
	return results, err
}

func TestNaNInOneRow(t *testing.T) {
	script := attempts(0, nan, nan)
	script.Next = func([]int32) fake.Row { return fake.NaN() }
	for request, want := range map[*engine.Request]string{
		new(diffuse(3, 3)):     "canvas 1: NaN or infinity in the logits at position 4",
		new(autoregress(3, 3)): "NaN or infinity in the logits at position 1",
	} {
		var last engine.Event
		for e, err := range engine.New(quiet{fake.New(small(script))}, nil).Generate(context.Background(), *request) {
			if err != nil {
				t.Fatal(err)
			}
			last = e
		}
		if f := last.(*engine.Finished); f.Reason != engine.FinishGuard || f.Guard != want {
			t.Errorf("%s: %s (%s), want %s", request.Mode, f.Reason, f.Guard, want)
		}
	}
}
