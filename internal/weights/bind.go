package weights

import (
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/quant"
)

// maxChecked is the number of elements up to which a tensor is checked for NaN
// and infinity when it is bound: norms, scales and layer scalars, one of which
// spoils a whole layer. Reading all of a large checkpoint would take long; what
// its matrices spoil is found in the hidden states.
const maxChecked = 64 << 10

// A Binding holds the tensors of a checkpoint by the official names of the slots
// that they fill. It is valid until the checkpoint is closed.
type Binding struct {
	// Report is the comparison behind the binding; nothing is missing or wrong
	// in it. Surplus tensors are left to the caller.
	Report  Report
	tensors map[string]quant.Tensor
}

// Bind finds the tensor of every slot. When slots are empty or tensors do not
// fit, when a tensor is stored under two names of its slot, or when a scalar or
// a vector of up to 65536 elements holds NaN or infinity, the error is a
// *RejectedError around a *MismatchError that lists all of them.
func (c *Checkpoint) Bind(slots []Slot, aside []Group) (*Binding, error) {
	report, bound := c.match(slots, aside)
	b := &Binding{tensors: make(map[string]quant.Tensor, len(slots))}
	for _, slot := range slots {
		i, ok := bound[slot.Name]
		if !ok {
			continue
		}
		t := c.tensors[i]
		if reason := nonFinite(t); reason != "" {
			report.Wrong = append(report.Wrong, Wrong{Info: report.Found[i], Slot: slot, Reason: reason})
			continue
		}
		b.tensors[slot.Name] = t
	}
	if len(report.Missing) > 0 || len(report.Wrong) > 0 {
		return nil, c.reject(&MismatchError{report})
	}
	b.Report = report
	return b, nil
}

// Tensor returns the tensor of a slot by the slot's official name, and the zero
// Tensor for a name that is none.
func (b *Binding) Tensor(name string) quant.Tensor { return b.tensors[name] }

// nonFinite says where a small tensor of floats first holds NaN or infinity, ""
// for nowhere.
func nonFinite(t quant.Tensor) string {
	n := t.Elements()
	if len(t.Shape) > 1 || n > maxChecked {
		return ""
	}
	values := make([]float32, n)
	if err := quant.Decode(t.Format, values, t.Data); err != nil {
		return err.Error()
	}
	for i, v := range values {
		if v := float64(v); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("element %d of %d is %v", i, n, v)
		}
	}
	return ""
}
