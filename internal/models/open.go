package models

import (
	"errors"
	"fmt"
	"time"

	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/gemma"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/tokenizer"
)

// registry knows every architecture that this program can run.
var registry = model.NewRegistry(gemma.Architecture())

// Options say how a model is to be run. The zero value is the default.
type Options struct {
	// Arithmetic is "exact", "bf16", or "" for the default of the weights and
	// the machine.
	Arithmetic string
	// KernelClass names the class of kernels; "" takes the best there is, or
	// what FRESCO_CPU names.
	KernelClass string
	// Threads is the number of compute threads, 0 … MaxThreads; 0 takes the
	// physical cores within the limits of the cgroup.
	Threads int
	// Progress is called from another goroutine, four times a second, while
	// loading takes longer than a second; nil for never. It has returned for
	// the last time when Open returns.
	Progress func(Progress)
}

// MaxThreads is the largest number of compute threads that can be asked for.
const MaxThreads = 1024

// Progress is how far loading is.
type Progress struct {
	Name string
	// Bytes is the size of the tensors, 0 while it is not known.
	Bytes   int64
	Elapsed time.Duration
}

// A Model is loaded and ready.
type Model struct {
	// Name is the embedded name or the path as it was given.
	Name string
	// Embedded is true for a model that is part of the program.
	Embedded bool
	Backend  model.Backend
	Engine   *engine.Engine
	// Tokenizer is nil for a checkpoint without one.
	Tokenizer *tokenizer.Tokenizer
	// Form is how the checkpoint wants to be asked; nil without a tokenizer.
	Form chat.Form
	// Notes say what a person should know about the checkpoint: rows without a
	// token, tensors that no part of the model uses, keys of the generation
	// config that mean nothing here, a tokenizer without turn markers.
	Notes []string
	// LoadTime is how long opening took.
	LoadTime time.Duration
}

// Open loads the model with an embedded name, in a folder, or in a GGUF file.
// Options that cannot be honoured are an *engine.RequestError.
func Open(nameOrPath string, o Options) (*Model, error) {
	begun := time.Now()
	if o.Threads < 0 || o.Threads > MaxThreads {
		return nil, &engine.RequestError{Field: "threads", Reason: fmt.Sprintf("%d is not in 0 … %d", o.Threads, MaxThreads)}
	}
	from, err := find(nameOrPath)
	if err != nil {
		return nil, err
	}
	watch := startWatch(from.name, begun, o.Progress)
	defer watch.stop()
	checkpoint, err := from.open()
	if err != nil {
		return nil, err
	}
	m, err := load(checkpoint, from, o, watch)
	if err != nil {
		return nil, errors.Join(err, checkpoint.Close())
	}
	m.LoadTime = time.Since(begun)
	return m, nil
}

// load makes a model of a checkpoint, which the model's backend closes.
func load(c *weights.Checkpoint, from source, o Options, watch *watch) (*Model, error) {
	d, err := describe(c, from)
	if err != nil {
		return nil, err
	}
	watch.size(stored(d.seen.Tensors))
	backend, err := d.architecture.Load(c, model.LoadOptions{
		Arithmetic: o.Arithmetic, KernelClass: o.KernelClass, Threads: o.Threads, Tokens: d.tokens,
	})
	if err != nil {
		return nil, err
	}
	return &Model{
		Name: from.name, Embedded: from.embedded,
		Backend: backend, Engine: engine.New(backend, d.tokenizer),
		Tokenizer: d.tokenizer, Form: d.form, Notes: d.notes,
	}, nil
}

// Close releases the weights.
func (m *Model) Close() error { return m.Backend.Close() }
