package convert

import (
	"slices"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/quant"
)

// A plan says for the kinds of tensors that may lose precision which format they
// get. Every kind that it does not name is kept precise, see format.
type plan struct {
	name    string
	formats map[model.Kind]quant.Format
	// fileType is general.file_type: ggml's number for what most tensors are.
	fileType uint32
}

// plans in the order of their size.
var plans = []plan{
	// The table is read through its decoder three times a step (lookup, head, soft
	// embedding) and decides between tokens: four bits are too few for it.
	{"q4_0", weightsIn(quant.Q4_0, quant.Q8_0), 2},
	// Experts are nine tenths of the model, and each sees a part of the tokens
	// alone: four bits there save most and cost least. Attention and the dense
	// branch act on every token.
	{"mixed", map[model.Kind]quant.Format{
		model.Table: quant.Q8_0, model.Head: quant.Q8_0, model.Attention: quant.Q8_0,
		model.Dense: quant.Q5_1, model.Experts: quant.Q4_0,
	}, 2},
	{"q8_0", weightsIn(quant.Q8_0, quant.Q8_0), 7},
	{"f16", weightsIn(quant.F16, quant.F16), 1},
	{"bf16", weightsIn(quant.BF16, quant.BF16), 32},
}

// weightsIn is the plan of one format for all weights but table and head.
func weightsIn(f, table quant.Format) map[model.Kind]quant.Format {
	return map[model.Kind]quant.Format{
		model.Table: table, model.Head: table, model.Attention: f, model.Dense: f, model.Experts: f,
	}
}

// Types lists the types that Quantize knows, the smallest first.
func Types() []string {
	var names []string
	for _, p := range plans {
		names = append(names, p.name)
	}
	return names
}

func findPlan(name string) (plan, bool) {
	i := slices.IndexFunc(plans, func(p plan) bool { return p.name == name })
	if i < 0 {
		return plan{}, false
	}
	return plans[i], true
}

// format chooses the format of a tensor. wanted is what the plan says; format is
// that, or what takes its place where the rows are not whole blocks of it: Q8_0,
// and when they are not whole blocks of that either, the float that they are
// stored in, of 16 bits at most.
//
// What stays precise is small, and what it spoils is large: vectors (norms, scales,
// scalars) become F32, which holds every float exactly; the router's and
// self-conditioning's matrices stay as they are stored.
func (p plan) format(kind model.Kind, stored quant.Format, shape []int) (format, wanted quant.Format) {
	wanted, weights := p.formats[kind]
	switch {
	case !weights && len(shape) < 2:
		return quant.F32, quant.F32
	case !weights:
		return stored, stored
	}
	row := shape[len(shape)-1]
	for _, f := range []quant.Format{wanted, quant.Q8_0} {
		if row%f.BlockElements() == 0 {
			return f, wanted
		}
	}
	if stored == quant.F16 {
		return quant.F16, wanted
	}
	return quant.BF16, wanted
}
