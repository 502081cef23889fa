package gemma

import (
	"context"
	"errors"
	"fmt"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/weights"
)

// Backend is a model.Backend on the CPU. It runs the items of a Step one after
// another.
type Backend struct {
	checkpoint  *weights.Checkpoint
	config      *config
	public      *model.Config
	weights     *modelWeights
	weightBytes int64
	arithmetic  string
	round       kernel.Rounding
	team        *kernel.Team
	vocabulary  kernel.Vocabulary
	forward     *forward
	pages       *pageStore
	closed      bool

	// Memory that Steps reuse.
	rowLogits   *kernel.Logits
	headScratch kernel.HeadScratch
	softScratch kernel.SoftScratch
	headRows    []kernel.HeadRow
	ids         []int32
	needed      []int
}

// Config implements model.Backend.
func (b *Backend) Config() *model.Config { return b.public }

// Capabilities implements model.Backend.
func (b *Backend) Capabilities() model.Capabilities {
	kv := "f32"
	if b.round == kernel.BF16 {
		kv = "bf16"
	}
	return model.Capabilities{
		Denoise: true, Arithmetic: b.arithmetic, KernelClass: b.team.Class(), KVType: kv, Threads: b.team.Workers(),
	}
}

// MemoryPlan implements model.Backend.
func (b *Backend) MemoryPlan(r model.MemoryRequest) model.MemoryPlan {
	return b.config.memoryPlan(r, b.weightBytes, b.round, b.team.Workers())
}

// Close implements model.Backend. A second call does nothing.
func (b *Backend) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	b.team.Close()
	return b.checkpoint.Close()
}

// undo is what an Encode changes, kept until its Step has succeeded.
type undo struct {
	sequence   *sequence
	length     int
	last       []float32
	answerable bool
}

// Step implements model.Backend. All items are checked before the first one runs.
// When one fails, the sequences of the items before it are set back too, and no
// canvas takes over its new logits; what sliding layers no longer need is dropped
// only at the end.
func (b *Backend) Step(ctx context.Context, items []model.Item) (results []model.Result, err error) {
	if err := b.checkItems(items); err != nil {
		return nil, err
	}
	var done []undo
	defer func() {
		// What panics here is a fault of this program, in a worker perhaps. The
		// request ends with it, not the process.
		if fault := recover(); fault != nil {
			err = fmt.Errorf("gemma: internal fault in a step: %v", fault)
		}
		if err != nil {
			results = nil
			for _, u := range done {
				u.restore()
			}
		}
	}()
	for i, item := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var r model.Result
		if item.Denoise != nil {
			r, err = b.denoise(ctx, item.Denoise, i == len(items)-1)
		} else {
			s := item.Encode.Sequence.(*sequence)
			done = append(done, undo{s, s.length, append([]float32(nil), s.last...), s.answerable})
			r, err = b.encode(ctx, item.Encode)
			if err == nil && r.NonFinite != nil {
				done[len(done)-1].restore()
			}
		}
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	for i, item := range items {
		if item.Denoise != nil {
			item.Denoise.Canvas.(*canvasState).take(results[i].NonFinite == nil)
		}
	}
	for _, u := range done {
		if u.sequence.length > u.length {
			u.sequence.retain(u.length)
		}
	}
	return results, nil
}

// restore sets the sequence back to where it was.
func (u undo) restore() {
	if u.sequence.length == u.length {
		return
	}
	u.sequence.cut(u.length)
	copy(u.sequence.last, u.last)
	u.sequence.answerable = u.answerable
}

// checkItems refuses items that cannot run, and a step in which an item reads what
// another writes.
func (b *Backend) checkItems(items []model.Item) error {
	if b.closed {
		return errors.New("gemma: the model was closed")
	}
	written := map[model.Sequence]bool{}
	read := map[model.Sequence]bool{}
	canvases := map[model.Canvas]bool{}
	for i, item := range items {
		var err error
		switch {
		case (item.Encode == nil) == (item.Denoise == nil):
			err = errors.New("must be an encode or a denoise")
		case item.Encode != nil:
			s := item.Encode.Sequence
			if written[s] || read[s] {
				err = errors.New("its sequence is used by another item of the step")
			} else {
				err = b.checkEncode(item.Encode)
			}
			written[s] = true
		default:
			if written[item.Denoise.Sequence] || canvases[item.Denoise.Canvas] {
				err = errors.New("its sequence or canvas is used by another item of the step")
			} else {
				err = b.checkDenoise(item.Denoise)
			}
			read[item.Denoise.Sequence], canvases[item.Denoise.Canvas] = true, true
		}
		if err != nil {
			return fmt.Errorf("gemma: item %d: %w", i, err)
		}
	}
	return nil
}

// Architecture returns the entry of this model in the registry.
func Architecture() model.Architecture {
	return model.Architecture{Name: ModelType, GGUF: ggufArchitecture, Load: load, Inspect: inspect, Export: export, Blueprint: blueprint}
}

// load makes a backend of a checkpoint. The checkpoint is not closed when it
// fails.
func load(checkpoint *weights.Checkpoint, o model.LoadOptions) (model.Backend, error) {
	c, generation, err := readConfig(checkpoint)
	if err != nil {
		return nil, err
	}
	round, arithmetic, err := resolveArithmetic(o.Arithmetic)
	if err != nil {
		return nil, err
	}
	kernels, err := kernel.Choose(o.KernelClass)
	if err != nil {
		return nil, err
	}
	binding, err := checkpoint.Bind(c.slots(), c.aside())
	if err != nil {
		return nil, err
	}
	w, err := bindWeights(c, binding, round)
	if err != nil {
		return nil, reject(checkpoint, err)
	}
	vocabulary, noise, err := c.vocabulary(o.Tokens)
	if err != nil {
		return nil, reject(checkpoint, err)
	}
	b := &Backend{
		checkpoint: checkpoint, config: c, public: c.public(generation, noise), weights: w,
		arithmetic: arithmetic, round: round, team: kernel.NewTeam(kernels, o.Threads),
		vocabulary: vocabulary, pages: newPageStore(round),
	}
	for _, info := range binding.Report.Found {
		b.weightBytes += info.Bytes
	}
	b.forward = newForward(c, w, b.team, round)
	return b, nil
}

// reject marks an error as one of the checkpoint's content.
func reject(checkpoint *weights.Checkpoint, err error) error {
	return &weights.RejectedError{Path: checkpoint.Name(), Err: err}
}

// resolveArithmetic turns the name of an arithmetic into rounding. The default
// is exact on every machine: the reference kernels gain nothing by rounding (see
// docs/decisions).
func resolveArithmetic(name string) (kernel.Rounding, string, error) {
	switch name {
	case "", "exact":
		return kernel.F32, "exact", nil
	case "bf16":
		return kernel.BF16, "bf16", nil
	}
	return 0, "", fmt.Errorf("gemma: arithmetic %q is unknown (exact, bf16)", name)
}

// vocabulary masks the ids that have no token. tokens lists those that have one,
// ascending; nil means all.
func (c *config) vocabulary(tokens []int32) (kernel.Vocabulary, canvas.Noise, error) {
	v := kernel.Vocabulary{Size: c.vocab, Softcap: c.softcap}
	if tokens == nil || len(tokens) == c.vocab {
		return v, canvas.Noise{Count: c.vocab}, nil
	}
	if len(tokens) == 0 {
		return v, canvas.Noise{}, errors.New("gemma: no id of the embedding has a token")
	}
	v.Masked = make([]bool, c.vocab)
	for i := range v.Masked {
		v.Masked[i] = true
	}
	for _, id := range tokens {
		if id < 0 || int(id) >= c.vocab {
			return v, canvas.Noise{}, fmt.Errorf("gemma: the tokenizer knows id %d, the embedding has %d rows", id, c.vocab)
		}
		v.Masked[id] = false
	}
	noise := canvas.Noise{Count: len(tokens), IDs: tokens}
	if int(tokens[len(tokens)-1]) == len(tokens)-1 {
		noise.IDs = nil // the first Count ids
	}
	return v, noise, nil
}
