package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/machine"
	"github.com/frescolm/fresco/internal/model"
)

// StepOptions say what of a model is measured.
type StepOptions struct {
	// Open loads the model for a number of threads. Its backend is closed after use.
	Open func(threads int) (model.Backend, error)
	// Threads is the largest thread count; smaller ones are measured as well.
	Threads int
	// Prompt is the number of committed tokens; 0 takes DefaultPrompt, or what fits.
	Prompt int
	// Canvas is the length of the canvas; 0 takes the checkpoint's.
	Canvas int
	// Budget is about how long the passes take together.
	Budget time.Duration
	// Progress, when not nil, is told what comes next.
	Progress func(done, all int, what string)
}

// DefaultPrompt is the number of committed tokens when none is named.
const DefaultPrompt = 64

// A SizeError says that a model cannot take a prompt or canvas of this size.
type SizeError struct{ Reason string }

func (e *SizeError) Error() string { return e.Reason }

// A StepReport is what the passes of a model take.
type StepReport struct {
	Model        string `json:"model"`
	Architecture string `json:"architecture"`
	Arithmetic   string `json:"arithmetic"`
	Class        string `json:"kernel_class"`
	Threads      int    `json:"threads"`
	// Prompt and Canvas are tokens.
	Prompt      int         `json:"prompt_tokens"`
	Canvas      int         `json:"canvas_tokens"`
	Calibration Calibration `json:"calibration"`
	Passes      []Pass      `json:"passes"`
}

// The passes, in their order.
const (
	PassPrefill     = "prefill"
	PassFirst       = "first denoising step"
	PassConditioned = "denoising step, self-conditioned"
	PassToken       = "one token"
)

var passNames = []string{PassPrefill, PassFirst, PassConditioned, PassToken}

// A Pass is one kind of pass on one thread count.
type Pass struct {
	Name    string `json:"pass"`
	Threads int    `json:"threads"`
	// Tokens is the number of rows.
	Tokens int `json:"tokens"`
	Timing
	// Work is that of the whole pass; its bytes are those of the weights read.
	Work
	// CPUShare is the share of the ceiling by computing time, 0 where it is not known.
	CPUShare float64 `json:"cpu_share_of_ceiling"`
	// Scaling is the speed beside that of one thread.
	Scaling float64 `json:"scaling"`
	// Parts are those of the run whose time is the median, or of the one before it.
	Parts []PassPart `json:"parts"`
}

// A PassPart is a part of a pass.
type PassPart struct {
	Name    string  `json:"part"`
	Seconds float64 `json:"seconds"`
	// Fraction is that of the time of all parts.
	Fraction float64 `json:"fraction"`
	Work
}

// Step measures the passes of a model between two calibrations.
func Step(ctx context.Context, name string, o StepOptions) (*StepReport, error) {
	r := &StepReport{Model: name, Threads: o.Threads}
	threads := ThreadCounts(o.Threads)
	var classes []string
	for i, n := range threads {
		backend, err := o.Open(n)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			classes = []string{backend.Capabilities().KernelClass}
			err = r.describe(backend, o)
			if err == nil {
				err = r.Calibration.begin(classes, threads)
			}
		}
		if err == nil {
			err = r.measure(ctx, backend, n, i*len(passNames), len(threads)*len(passNames), o)
		}
		if err = errors.Join(err, backend.Close()); err != nil {
			return nil, err
		}
	}
	if err := r.Calibration.end(classes, threads); err != nil {
		return nil, err
	}
	r.finish()
	return r, nil
}

// describe fills in what the model is and checks what is asked of it.
func (r *StepReport) describe(b model.Backend, o StepOptions) error {
	c, can := b.Config(), b.Capabilities()
	r.Architecture, r.Arithmetic, r.Class = c.Architecture, can.Arithmetic, can.KernelClass
	r.Canvas = o.Canvas
	if r.Canvas == 0 {
		r.Canvas = c.CanvasLength
	}
	most := c.MaxPositions - max(r.Canvas, 1)
	r.Prompt = o.Prompt
	if r.Prompt == 0 {
		r.Prompt = min(DefaultPrompt, most)
	}
	switch {
	case r.Canvas > c.CanvasLength:
		return &SizeError{fmt.Sprintf("a canvas of %d tokens; the model's limit is %d", r.Canvas, c.CanvasLength)}
	case r.Prompt > most || r.Prompt < 1:
		return &SizeError{fmt.Sprintf("a prompt of %d tokens and a canvas of %d; the model's limit is %d", r.Prompt, r.Canvas, c.MaxPositions)}
	}
	return nil
}

// measure runs the passes on one backend.
func (r *StepReport) measure(ctx context.Context, b model.Backend, threads, done, all int, o StepOptions) error {
	profiler, ok := b.(model.Profiler)
	if !ok {
		return fmt.Errorf("bench: the backend of %s cannot say where its time goes", r.Architecture)
	}
	var profile model.Profile
	profiler.SetProfile(&profile)
	defer profiler.SetProfile(nil)
	w, err := newWalk(ctx, b, r.Prompt, r.Canvas)
	if err != nil {
		return err
	}
	defer w.release()
	for i, name := range passNames {
		if name != PassPrefill && name != PassToken && r.Canvas == 0 {
			continue // a model without a canvas
		}
		if o.Progress != nil {
			o.Progress(done+i, all, fmt.Sprintf("%s on %d", name, threads))
		}
		p := Pass{Name: name, Threads: threads}
		p.Tokens = map[string]int{PassPrefill: r.Prompt, PassToken: 1}[name]
		if p.Tokens == 0 {
			p.Tokens = r.Canvas
		}
		if err := p.run(w, &profile, o.Budget/time.Duration(all)); err != nil {
			return err
		}
		r.Passes = append(r.Passes, p)
	}
	return nil
}

// A sample is one run.
type sample struct {
	seconds float64
	profile model.Profile
}

// run measures one pass: what prepares a run is not timed.
func (p *Pass) run(w *walk, profile *model.Profile, budget time.Duration) error {
	var samples []sample
	var seconds []float64
	var cpu time.Duration
	begun := time.Now()
	for n := 0; n < mostRuns; n++ {
		if spent := time.Since(begun); len(samples) > 0 && (spent > 2*budget || len(samples) >= leastRuns && spent > budget) {
			break
		}
		items, after, err := w.prepare(p.Name)
		if err != nil {
			return err
		}
		*profile = model.Profile{}
		before, _ := machine.CPUTime()
		at := time.Now()
		err = w.step(items)
		took := time.Since(at).Seconds()
		spent, _ := machine.CPUTime()
		if err := errors.Join(err, after()); err != nil {
			return err
		}
		if n > 0 { // the first run brings weights into memory
			samples = append(samples, sample{took, *profile})
			seconds = append(seconds, took)
			cpu += spent - before
		}
	}
	p.Timing = summarize(seconds)
	p.CPUSeconds = cpu.Seconds() / float64(p.Runs)
	p.take(median(samples))
	return nil
}

// median returns the run in the middle, of an even number the shorter one.
func median(samples []sample) sample {
	for _, s := range samples {
		less, equal := 0, 0
		for _, other := range samples {
			switch {
			case other.seconds < s.seconds:
				less++
			case other.seconds == s.seconds:
				equal++
			}
		}
		if at := (len(samples) - 1) / 2; less <= at && at < less+equal {
			return s
		}
	}
	return sample{} // without samples
}

// take enters work and parts of a run.
func (p *Pass) take(s sample) {
	total := s.profile.Total()
	p.Operations, p.Bytes = total.Operations, float64(total.WeightBytes)
	for _, part := range model.Parts() {
		did := s.profile[part]
		fraction := 0.0
		if total.Time > 0 {
			fraction = float64(did.Time) / float64(total.Time)
		}
		p.Parts = append(p.Parts, PassPart{
			Name: part.String(), Seconds: did.Time.Seconds(), Fraction: fraction,
			Work: Work{Operations: did.Operations, Bytes: float64(did.WeightBytes)},
		})
	}
}

// finish sets what follows from the calibration.
func (r *StepReport) finish() {
	alone := map[string]float64{}
	for i := range r.Passes {
		p := &r.Passes[i]
		clock, computing := r.Calibration.ceilings(r.Class, p.Threads)
		p.Work = newWork(p.Operations, p.Bytes, p.Seconds, clock)
		p.CPUShare = newWork(p.Operations, p.Bytes, p.CPUSeconds, computing).Share
		for j := range p.Parts {
			part := &p.Parts[j]
			part.Work = newWork(part.Operations, part.Bytes, part.Seconds, clock)
		}
		if p.Threads == 1 {
			alone[p.Name] = p.Seconds
		}
		if one := alone[p.Name]; p.Seconds > 0 {
			p.Scaling = one / p.Seconds
		}
	}
}

// A walk is a sequence and a canvas on which the passes of a model run.
type walk struct {
	ctx      context.Context
	backend  model.Backend
	prompt   []int32
	ids      []int32
	sequence model.Sequence
	canvas   model.Canvas
}

// newWalk commits the prompt.
func newWalk(ctx context.Context, b model.Backend, prompt, length int) (*walk, error) {
	w := &walk{ctx: ctx, backend: b, prompt: spread(b.Config().Noise, prompt, 0), ids: spread(b.Config().Noise, length, prompt), sequence: b.NewSequence()}
	err := w.step(encode(w.sequence, w.prompt, nil))
	if err == nil && length > 0 {
		w.canvas, err = w.sequence.NewCanvas(length)
	}
	if err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

func (w *walk) release() {
	if w.canvas != nil {
		w.canvas.Release()
	}
	w.sequence.Release()
}

// spread returns ids from all over the vocabulary, so that rows differ and choose
// different experts.
func spread(n canvas.Noise, count, from int) []int32 {
	ids := make([]int32, count)
	for i := range ids {
		at := int32(uint64(from+i+1) * 0x9e3779b97f4a7c15 >> 33 % uint64(n.Count))
		ids[i] = at
		if n.IDs != nil {
			ids[i] = n.IDs[at]
		}
	}
	return ids
}

// prepare returns what a pass consists of and what puts everything back.
func (w *walk) prepare(pass string) (items []model.Item, after func() error, err error) {
	nothing := func() error { return nil }
	switch pass {
	case PassPrefill:
		s := w.backend.NewSequence()
		return encode(s, w.prompt, nil), func() error { s.Release(); return nil }, nil
	case PassToken:
		row := []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: 1, Draw: canvas.Address{Purpose: canvas.PurposeToken}}}}
		before := w.sequence.Len()
		return encode(w.sequence, w.prompt[:1], row), func() error { return w.sequence.Truncate(before) }, nil
	case PassFirst:
		err = w.canvas.Reset(len(w.ids))
	case PassConditioned: // after a first step, or one that was conditioned itself
	}
	return []model.Item{{Denoise: &model.Denoise{
		Canvas: w.canvas, Sequence: w.sequence, IDs: w.ids, Temperature: 0.8,
		Candidates: canvas.Candidates{Temperature: 1}, Draw: canvas.Address{Purpose: canvas.PurposeCandidate},
	}}}, nothing, err
}

func encode(s model.Sequence, ids []int32, rows []model.Row) []model.Item {
	return []model.Item{{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: ids}}, Rows: rows}}}
}

// step runs items and takes NaN for an error.
func (w *walk) step(items []model.Item) error {
	results, err := w.backend.Step(w.ctx, items)
	if err != nil {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		return err
	}
	for _, r := range results {
		if r.NonFinite != nil {
			return r.NonFinite
		}
	}
	return nil
}
