package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/fake"
	"github.com/google/go-cmp/cmp"
)

// profiled is a backend that takes a millisecond and 100 operations a step, by its
// own account.
type profiled struct {
	*fake.Backend
	profile *model.Profile
	closed  bool
}

func (b *profiled) SetProfile(p *model.Profile) { b.profile = p }

func (b *profiled) Capabilities() model.Capabilities {
	c := b.Backend.Capabilities()
	c.KernelClass = "generic"
	return c
}

func (b *profiled) Step(ctx context.Context, items []model.Item) ([]model.Result, error) {
	if b.profile != nil {
		b.profile[model.PartDense].Time += time.Millisecond
		b.profile[model.PartDense].Operations += 100
		b.profile[model.PartDense].WeightBytes += 10
	}
	return b.Backend.Step(ctx, items)
}

func (b *profiled) Close() error { b.closed = true; return b.Backend.Close() }

func newProfiled(before func(context.Context, []model.Item) error) *profiled {
	return &profiled{Backend: fake.New(fake.Options{Config: fake.Config(40, 6, 30), Before: before})}
}

// TestMeasurePasses: all passes run with what they are said to have, and leave the
// sequence as it was.
func TestMeasurePasses(t *testing.T) {
	b := newProfiled(nil)
	r := &StepReport{}
	if err := r.describe(b, StepOptions{}); err != nil {
		t.Fatal(err)
	}
	if r.Prompt != 24 || r.Canvas != 6 { // what fits beside the canvas
		t.Fatalf("prompt %d, canvas %d", r.Prompt, r.Canvas)
	}
	if err := r.measure(context.Background(), b, 1, 0, 4, StepOptions{}); err != nil {
		t.Fatal(err)
	}
	type call struct {
		Encode               bool
		Tokens, Prefix, Rows int
	}
	want := map[string]call{
		PassPrefill:     {true, 24, 0, 0},
		PassFirst:       {false, 6, 24, 6},
		PassConditioned: {false, 6, 24, 6},
		PassToken:       {true, 1, 24, 1},
	}
	at := 1 // after the prompt
	for _, p := range r.Passes {
		for range p.Runs + 1 {
			c := b.Calls[at]
			got := call{c.Encode, c.Tokens, c.Prefix, c.Rows}
			if !c.Encode {
				got.Rows = 6
			}
			if got != want[p.Name] {
				t.Errorf("%s: %+v, want %+v", p.Name, got, want[p.Name])
			}
			at++
		}
		if p.Operations != 100 || p.Bytes != 10 || p.Tokens != want[p.Name].Tokens || p.Parts[model.PartDense].Fraction != 1 {
			t.Errorf("%s: %+v", p.Name, p)
		}
	}
	if len(r.Passes) != 4 || at != len(b.Calls) {
		t.Errorf("%d passes, %d of %d calls", len(r.Passes), at, len(b.Calls))
	}
	if b.profile != nil {
		t.Error("the profile was not taken away")
	}
}

func TestStepSizes(t *testing.T) {
	for _, o := range []StepOptions{{Prompt: 25}, {Canvas: 7}, {Prompt: 30, Canvas: 1}} {
		b := newProfiled(nil)
		o.Open = func(int) (model.Backend, error) { return b, nil }
		o.Threads = 1
		var size *SizeError
		if _, err := Step(context.Background(), "m", o); !errors.As(err, &size) {
			t.Errorf("%+v: %v", o, err)
		}
		if !b.closed {
			t.Error("the backend was left open")
		}
	}
}

func TestStepFailures(t *testing.T) {
	open := func(before func(context.Context, []model.Item) error) error {
		b := newProfiled(before)
		r := &StepReport{}
		if err := r.describe(b, StepOptions{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("interrupted"))
		return r.measure(ctx, b, 1, 0, 4, StepOptions{})
	}
	broken := errors.New("broken")
	if err := open(func(context.Context, []model.Item) error { return broken }); err == nil {
		t.Error("a step that fails was taken")
	}
	if err := open(nil); err == nil || err.Error() != "interrupted" {
		t.Errorf("an interrupted step: %v", err)
	}
	plain := fake.New(fake.Options{Config: fake.Config(40, 6, 30)})
	if err := (&StepReport{Architecture: "fake", Prompt: 1}).measure(context.Background(), plain, 1, 0, 4, StepOptions{}); err == nil {
		t.Error("a backend without a profile was taken")
	}
}

func TestSpread(t *testing.T) {
	n := canvas.Noise{Count: 50, IDs: make([]int32, 50)}
	for i := range n.IDs {
		n.IDs[i] = int32(1000 + i)
	}
	kinds := map[int32]bool{}
	for _, id := range append(spread(n, 100, 0), spread(n, 100, 100)...) {
		if id < 1000 || id >= 1050 {
			t.Fatalf("id %d has no token", id)
		}
		kinds[id] = true
	}
	if len(kinds) < 40 {
		t.Errorf("only %d different ids", len(kinds))
	}
}

func TestMedianSample(t *testing.T) {
	for _, c := range []struct {
		seconds []float64
		want    float64
	}{{[]float64{3}, 3}, {[]float64{3, 1}, 1}, {[]float64{5, 1, 3}, 3}, {[]float64{2, 2, 1, 9}, 2}, {nil, 0}} {
		var samples []sample
		for _, s := range c.seconds {
			samples = append(samples, sample{seconds: s})
		}
		if got := median(samples).seconds; got != c.want {
			t.Errorf("%v: %v, want %v", c.seconds, got, c.want)
		}
	}
}

// madeUpStep is a report of round numbers.
func madeUpStep() *StepReport {
	r := &StepReport{Model: "m", Architecture: "a", Arithmetic: "exact", Class: "avx2", Threads: 1, Prompt: 64, Canvas: 96}
	r.Calibration = Calibration{Peaks: []Rate{{"avx2", 1, 100e9, 0, 80e9}}, Bandwidths: []Rate{{"", 1, 10e9, 0, 10e9}}}
	r.Calibration.join([]Rate{{"avx2", 1, 100e9, 0, 80e9}}, []Rate{{"", 1, 9.5e9, 0, 0}})
	var p model.Profile
	p[model.PartDense] = model.PartProfile{Time: 6 * time.Millisecond, Operations: 3e8, WeightBytes: 2e6}
	p[model.PartAttention] = model.PartProfile{Time: 3 * time.Millisecond, Operations: 1e8}
	p[model.PartOther] = model.PartProfile{Time: time.Millisecond}
	pass := Pass{Name: PassFirst, Threads: 1, Tokens: 96, Timing: Timing{Runs: 3, Seconds: 0.010, CPUSeconds: 0.009}}
	pass.take(sample{0.010, p})
	r.Passes = []Pass{pass}
	r.finish()
	return r
}

func TestStepText(t *testing.T) {
	const want = `m: avx2, exact arithmetic, 1 thread, prompt of 64 tokens, canvas of 96

pass                               threads  tokens         ms     CPU ms      GF/s    weights  scaling  share of ceiling   by CPU time
first denoising step                     1      96     10.000      9.000      40.0     2.0 MB     1.00   40 % of peak             56 %

first denoising step, 1 thread, by part:
  attention projections       0.000 ms   0.0 %
  attention                   3.000 ms  30.0 %      33.3 GF/s              33 % of peak
  dense MLP                   6.000 ms  60.0 %      50.0 GF/s     2.0 MB   50 % of peak
  experts                     0.000 ms   0.0 %
  head                        0.000 ms   0.0 %
  self-conditioning           0.000 ms   0.0 %
  statistics                  0.000 ms   0.0 %
  other                       1.000 ms  10.0 %

calibration, before and after:
  avx2 on 1                 100.0 GFLOP/s    100.0 GFLOP/s
  reading on 1                  10.0 GB/s         9.5 GB/s
`
	var b bytes.Buffer
	if err := madeUpStep().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// The object has every part and the fields that docs/cli.md promises.
func TestStepJSON(t *testing.T) {
	data, err := json.Marshal(madeUpStep())
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Class   string `json:"kernel_class"`
		Threads int    `json:"threads"`
		Prompt  int    `json:"prompt_tokens"`
		Canvas  int    `json:"canvas_tokens"`
		Passes  []struct {
			Pass    string  `json:"pass"`
			Seconds float64 `json:"seconds"`
			Share   float64 `json:"share_of_ceiling"`
			Parts   []struct {
				Part       string  `json:"part"`
				Fraction   float64 `json:"fraction"`
				Operations float64 `json:"operations"`
			} `json:"parts"`
		} `json:"passes"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	if object.Class != "avx2" || object.Threads != 1 || object.Prompt != 64 || object.Canvas != 96 || len(object.Passes) != 1 {
		t.Fatalf("%s", data)
	}
	p := object.Passes[0]
	if p.Pass != PassFirst || p.Seconds != 0.010 || p.Share != 0.4 || len(p.Parts) != len(model.Parts()) {
		t.Errorf("%+v", p)
	}
	if part := p.Parts[model.PartDense]; part.Part != "dense MLP" || part.Fraction != 0.6 || part.Operations != 3e8 {
		t.Errorf("%+v", part)
	}
}
