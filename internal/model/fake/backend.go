package fake

import (
	"context"
	"fmt"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
)

// Options makes a Backend.
type Options struct {
	Config model.Config
	Script Script
	// Rollback is the number of tokens that Truncate can go back; 0 means all.
	Rollback int
	// Before runs at the start of every Step. An error fails the step; a slow
	// backend waits in it for the context.
	Before func(ctx context.Context, items []model.Item) error
	// Poison says after which layer the token at an absolute position becomes
	// NaN while it is encoded; ok is false for a healthy one.
	Poison func(position int, id int32) (layer int, ok bool)
	// Between runs between two items of a Step; the context is checked after it,
	// as a real backend does between two layers.
	Between func()
}

// Config returns the configuration of a small fake: pad 0, end token 1, BOS 2,
// two layers, a window of 8 tokens.
func Config(vocabulary, canvasLength, maxPositions int) model.Config {
	return model.Config{
		Architecture: "fake",
		VocabSize:    vocabulary,
		HiddenSize:   4,
		CanvasLength: canvasLength,
		MaxPositions: maxPositions,
		Window:       8,
		Layers: []model.Layer{
			{Kind: model.Sliding, Heads: 1, KVHeads: 1, HeadDim: 4},
			{Kind: model.Full, Heads: 1, KVHeads: 1, HeadDim: 4},
		},
		Tokens: model.SpecialTokens{Pad: 0, BOS: 2, End: []int32{1}},
		Noise:  canvas.Noise{Count: vocabulary},
	}
}

// Backend is the scripted backend.
type Backend struct {
	config   model.Config
	script   Script
	rollback int
	options  Options
	// Calls lists the items of all steps that succeeded, in their order.
	Calls []Call

	sequences, canvases int
	closed              bool
}

// A Call is one item of a Step.
type Call struct {
	// Encode is true for an Encode, false for a Denoise.
	Encode bool
	// Tokens is the number of tokens encoded, or the length of the canvas.
	Tokens int
	// Prefix is the number of committed tokens before the call.
	Prefix int
	// Rows counts the rows asked for.
	Rows int
	// IDs is a copy of the tokens encoded or of the canvas before the step.
	IDs []int32
	// Draw is the address of a Denoise, or of an Encode's first row.
	Draw canvas.Address
}

// New returns a backend.
func New(o Options) *Backend {
	return &Backend{config: o.Config, script: o.Script, rollback: o.Rollback, options: o}
}

// Config returns the configuration given to New.
func (b *Backend) Config() *model.Config { return &b.config }

// Capabilities says that the fake denoises when its canvas has a length.
func (b *Backend) Capabilities() model.Capabilities {
	return model.Capabilities{
		Denoise: b.config.CanvasLength > 0, Arithmetic: "exact", KernelClass: "fake", KVType: "f32", Threads: 1,
	}
}

// MemoryPlan counts four bytes for each committed token and each logit.
func (b *Backend) MemoryPlan(r model.MemoryRequest) model.MemoryPlan {
	length := r.Canvas
	if length == 0 {
		length = b.config.CanvasLength
	}
	return model.MemoryPlan{Items: []model.MemoryItem{
		{Name: "KV cache", Bytes: 4 * int64(r.Context)},
		{Name: "canvas logits", Bytes: 4 * int64(length) * int64(b.config.VocabSize)},
	}}
}

// NewSequence returns an empty sequence.
func (b *Backend) NewSequence() model.Sequence {
	b.sequences++
	return &sequence{backend: b}
}

// Live returns how many sequences and canvases have not been released.
func (b *Backend) Live() (sequences, canvases int) { return b.sequences, b.canvases }

// Close fails when something has not been released.
func (b *Backend) Close() error {
	if b.sequences != 0 || b.canvases != 0 {
		return fmt.Errorf("fake: close: %d sequences and %d canvases were not released", b.sequences, b.canvases)
	}
	b.closed = true
	return nil
}

// Step checks every item before it runs the first, so that a step that fails
// changes nothing.
func (b *Backend) Step(ctx context.Context, items []model.Item) ([]model.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if b.options.Before != nil {
		if err := b.options.Before(ctx, items); err != nil {
			return nil, err
		}
	}
	if err := b.check(items); err != nil {
		return nil, err
	}
	results := make([]model.Result, len(items))
	calls := make([]Call, len(items))
	undo := make([]func(), 0, len(items))
	for i, item := range items {
		if i > 0 && b.options.Between != nil {
			b.options.Between()
		}
		if err := ctx.Err(); err != nil {
			for _, f := range undo {
				f()
			}
			return nil, err
		}
		calls[i] = call(item)
		if item.Encode != nil {
			s := item.Encode.Sequence.(*sequence)
			before := *s
			undo = append(undo, func() { *s = before })
			results[i] = b.encode(s, item.Encode)
		} else {
			c := item.Denoise.Canvas.(*state)
			before, logits := *c, append([]float32(nil), c.logits...)
			undo = append(undo, func() {
				*c = before
				copy(c.logits, logits)
			})
			results[i] = b.denoise(c, item.Denoise)
		}
	}
	b.Calls = append(b.Calls, calls...)
	return results, nil
}

// call describes an item before it runs.
func call(item model.Item) Call {
	if d := item.Denoise; d != nil {
		return Call{
			Tokens: len(d.IDs), Prefix: d.Sequence.Len(), Rows: len(d.IDs), IDs: append([]int32(nil), d.IDs...), Draw: d.Draw,
		}
	}
	e := item.Encode
	c := Call{Encode: true, Tokens: e.Tokens(), Prefix: e.Sequence.Len(), Rows: len(e.Rows)}
	for _, s := range e.Segments {
		c.IDs = append(c.IDs, s.IDs...)
	}
	if c.Rows > 0 {
		c.Draw = e.Rows[0].Sampling.Draw
	}
	return c
}

func (b *Backend) encode(s *sequence, e *model.Encode) model.Result {
	start, before := len(s.ids), *s
	var r model.Result
	for _, segment := range e.Segments {
		for k, id := range segment.IDs {
			if b.options.Poison == nil || r.NonFinite != nil {
				continue
			}
			if layer, bad := b.options.Poison(len(s.ids)+k, id); bad {
				r.NonFinite = &model.NonFinite{Layer: layer, Position: len(s.ids) + k}
			}
		}
		s.extend(segment.IDs)
	}
	r.Stats = make([]canvas.Stats, len(e.Rows))
	logits := make([]float32, b.config.VocabSize)
	for i, row := range e.Rows {
		end := start + row.Index + 1
		if row.Index == model.LastCommitted {
			end = len(s.ids)
		}
		b.script.next(s.ids[:end])(logits)
		r.Stats[i] = Stats(logits, b.config.Noise, Ask(row.Sampling))
		if r.Stats[i].NonFinite && r.NonFinite == nil {
			r.NonFinite = &model.NonFinite{Layer: model.InLogits, Position: end - 1}
		}
	}
	if r.NonFinite != nil {
		*s = before
	}
	return r
}

func (b *Backend) denoise(c *state, d *model.Denoise) model.Result {
	pass := Pass{
		Prefix: c.sequence.ids, Canvas: d.IDs, Number: int(d.Draw.Canvas), Redraw: d.Draw.Attempt&1 == 1, Step: c.steps,
	}
	if c.kept {
		pass.Previous = append([]float32(nil), c.logits...)
	}
	var r model.Result
	r.Stats = make([]canvas.Stats, len(d.IDs))
	vocabulary := b.config.VocabSize
	logits := make([]float32, vocabulary)
	for i := range d.IDs {
		q := Question{
			Temperature: d.Temperature, Candidates: d.Candidates, Draw: d.Draw, Score: d.Score, Top: d.Top,
		}
		q.Draw.Position = uint32(i)
		if d.Adjust != nil {
			q.Adjust = d.Adjust[i]
		}
		b.script.denoise(pass, i)(logits)
		r.Stats[i] = Stats(logits, b.config.Noise, q)
		if r.Stats[i].NonFinite && r.NonFinite == nil {
			r.NonFinite = &model.NonFinite{Layer: model.InLogits, Position: len(c.sequence.ids) + i}
		}
		copy(c.logits[i*vocabulary:], Processed(logits, b.config.Noise, q.Adjust, q.Temperature))
	}
	c.kept = true
	c.steps++
	return r
}
