package model

import (
	"fmt"
	"strings"

	"github.com/frescolm/fresco/internal/weights"
)

// LoadOptions says how a checkpoint is to be run.
type LoadOptions struct {
	// Arithmetic is "exact" (fp32 activations and KV cache), "bf16" (the
	// official rounding points, bf16 KV cache), or "" for the default, which is
	// resolved by weight type and machine.
	Arithmetic string
	// KernelClass names the class of kernels; "" takes the best that the machine
	// has, or what FRESCO_CPU names.
	KernelClass string
	// Threads is the number of compute threads; 0 takes the physical cores
	// within the limits of the cgroup.
	Threads int
	// Tokens lists, in ascending order, the ids that have a token when the
	// tokenizer knows fewer than the embedding has rows; nil means all of them.
	// The others are masked before the softmax and never drawn.
	Tokens []int32
}

// A Loader makes a backend of a checkpoint. The checkpoint stays open for the
// life of the backend, which closes it.
type Loader func(*weights.Checkpoint, LoadOptions) (Backend, error)

// An Architecture is a family of checkpoints that can be loaded.
type Architecture struct {
	// Name is the model_type of config.json.
	Name string
	// GGUF is the general.architecture of a GGUF file.
	GGUF string
	// Load makes a backend.
	Load Loader
	// Inspect reads the configuration and compares the tensors with what the
	// architecture expects, without loading them. It answers also for
	// checkpoints that Load would reject, as far as they can be understood.
	Inspect func(*weights.Checkpoint) (*Inspection, error)
	// Export tells a checkpoint in the terms of a GGUF file. One that cannot be
	// told so is an error that says why.
	Export func(*weights.Checkpoint) (*Export, error)
	// Blueprint tells the checkpoint that would belong to a config.json and a
	// generation_config.json. Its tensors have no data, but those that are derived
	// from the configuration; their format is Invalid.
	Blueprint func(config, generation []byte) (*Export, error)
}

// An Inspection is what can be said about a checkpoint without running it.
type Inspection struct {
	Config *Config
	// Dimensions lists the architecture's own dimensions in the order in which
	// they should be shown.
	Dimensions []Dimension
	// KVBytesPerToken is for the full layers, which grow without bound;
	// SlidingBytesPerToken for the sliding ones, which stop at their window.
	// Both count the bf16 cache; the fp32 one takes twice as much.
	KVBytesPerToken, SlidingBytesPerToken int64
	Tensors                               weights.Report
	// Plan says what a run of the given size would need.
	Plan func(MemoryRequest, LoadOptions) MemoryPlan
}

// A Dimension is one named number of an architecture.
type Dimension struct {
	Name  string
	Value string
}

// A Registry knows the architectures that a program was built with.
type Registry struct{ architectures []Architecture }

// NewRegistry returns a registry of the given architectures.
func NewRegistry(architectures ...Architecture) *Registry {
	return &Registry{architectures}
}

// Lookup finds an architecture by the model_type of config.json.
func (r *Registry) Lookup(modelType string) (Architecture, error) {
	return r.find("model_type", modelType, func(a Architecture) string { return a.Name })
}

// LookupGGUF finds an architecture by the general.architecture of a GGUF file.
func (r *Registry) LookupGGUF(architecture string) (Architecture, error) {
	return r.find("general.architecture", architecture, func(a Architecture) string { return a.GGUF })
}

// find finds an architecture by one of its names; key is where it was read.
func (r *Registry) find(key, wanted string, name func(Architecture) string) (Architecture, error) {
	var names []string
	for _, a := range r.architectures {
		n := name(a)
		if n == "" {
			continue
		}
		if n == wanted {
			return a, nil
		}
		names = append(names, n)
	}
	return Architecture{}, fmt.Errorf("%s %q is not supported (supported: %s)", key, wanted, strings.Join(names, ", "))
}
