package weights

import (
	"github.com/frescolm/fresco/internal/quant"
)

// A Slot is a tensor that an architecture expects.
type Slot struct {
	// Name is the tensor's official name.
	Name string
	// Aliases are other names under which it may be stored. Exactly one of all
	// the names may be present.
	Aliases []string
	Shape   []int
	// Formats lists the formats that can be used; nil means F32, BF16 and F16, and
	// for a matrix the block formats too.
	Formats []quant.Format
	// Hint is added to the error when the tensor is missing.
	Hint string
}

// A Report compares the tensors of a checkpoint with the slots that an
// architecture expects.
type Report struct {
	// Found lists every tensor of the checkpoint, in ascending order of names.
	Found []Info
	// Missing lists the slots without a tensor, in the order of the slots.
	Missing []Missing
	// Wrong lists tensors with another shape or type than their slot.
	Wrong []Wrong
	// Surplus names tensors that no slot and no set-aside group claims.
	Surplus []string
	// Aside groups the tensors that are known and not used.
	Aside []Group
}

// An Info describes one stored tensor.
type Info struct {
	Name string
	// Type is the element type or the block format, as the file's format spells
	// it; not all of them can be used.
	Type  string
	Shape []int
	Bytes int64
	// File is the file that holds it.
	File string
}

// A Missing slot, with the stored names that come closest.
type Missing struct {
	Slot    Slot
	Nearest []string
}

// A Wrong tensor does not fit its slot.
type Wrong struct {
	Info   Info
	Slot   Slot
	Reason string
}

// A Group of tensors that are known and set aside, for example the vision
// tower.
type Group struct {
	Name   string
	Prefix []string
	Count  int
	Bytes  int64
}
