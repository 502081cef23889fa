package model

import (
	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/weights"
)

// A Kind says what part of a model a tensor belongs to, and so how precisely it
// has to be stored.
type Kind string

// The kinds, spelled as reports show them.
const (
	Table            Kind = "table"             // the embedding, which is the head as well when tied
	Head             Kind = "head"              // a head of its own
	Attention        Kind = "attention"         // the projections
	Dense            Kind = "dense"             // the dense branch
	Experts          Kind = "experts"           // all experts of a layer
	Router           Kind = "router"            // its projection and its scales
	Norm             Kind = "norms"             // of layers, heads, and the end
	Scalar           Kind = "layer scalars"     // of encoder and decoder
	SelfConditioning Kind = "self-conditioning" // its norm and its projections
	Rotary           Kind = "rotary divisors"   // which pairs of a full layer's heads rotate
)

// Kinds lists all kinds in the order in which reports show them.
func Kinds() []Kind {
	return []Kind{Table, Head, Attention, Dense, Experts, Router, Norm, Scalar, SelfConditioning, Rotary}
}

// An Export is a checkpoint in the terms of a GGUF file: what its metadata say of
// the configuration and the sampler (not of the tokenizer), and its tensors under
// the names that they have there, in the order of the forward pass.
type Export struct {
	Metadata []gguf.KeyValue
	Tensors  []ExportTensor
	// Report compares the checkpoint with what the architecture expects.
	Report weights.Report
}

// An ExportTensor is one tensor of an Export. Its data is a view of the
// checkpoint and lives as long as that.
type ExportTensor struct {
	Name string
	// Official is the name in the folder layout, "" for a tensor that it does not
	// have.
	Official string
	Kind     Kind
	Tensor   quant.Tensor
	// Derived is true for a tensor that the checkpoint does not have: it says what
	// the configuration says.
	Derived bool
}
