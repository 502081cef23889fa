package convert

import (
	"testing"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/quant"
)

func TestPlan(t *testing.T) {
	matrix := func(row int) []int { return []int{6, row} }
	for _, c := range []struct {
		name, plan     string
		kind           model.Kind
		stored         quant.Format
		shape          []int
		format, wanted quant.Format
	}{
		{"four bits", "q4_0", model.Dense, quant.BF16, matrix(2816), quant.Q4_0, quant.Q4_0},
		{"704 is whole blocks of 32", "q4_0", model.Experts, quant.BF16, []int{128, 2816, 704}, quant.Q4_0, quant.Q4_0},
		{"the table keeps eight", "q4_0", model.Table, quant.BF16, matrix(64), quant.Q8_0, quant.Q8_0},
		{"so does a head", "q4_0", model.Head, quant.F32, matrix(64), quant.Q8_0, quant.Q8_0},
		{"odd row of BF16", "q4_0", model.Dense, quant.BF16, matrix(33), quant.BF16, quant.Q4_0},
		{"odd row of F16", "q4_0", model.Dense, quant.F16, matrix(48), quant.F16, quant.Q4_0},
		{"odd row of F32", "q8_0", model.Attention, quant.F32, matrix(31), quant.BF16, quant.Q8_0},
		{"odd row of the table", "q4_0", model.Table, quant.BF16, matrix(1), quant.BF16, quant.Q8_0},
		{"odd row of blocks is no row of blocks", "mixed", model.Experts, quant.BF16, []int{4, 8, 100}, quant.BF16, quant.Q4_0},
		{"floats take every row", "bf16", model.Dense, quant.F32, matrix(7), quant.BF16, quant.BF16},
		{"half", "f16", model.Experts, quant.BF16, []int{2, 3, 7}, quant.F16, quant.F16},
		{"mixed attention", "mixed", model.Attention, quant.BF16, matrix(64), quant.Q8_0, quant.Q8_0},
		{"mixed dense", "mixed", model.Dense, quant.BF16, matrix(64), quant.Q5_1, quant.Q5_1},
		{"mixed experts", "mixed", model.Experts, quant.BF16, []int{4, 8, 64}, quant.Q4_0, quant.Q4_0},
		{"router", "q4_0", model.Router, quant.BF16, matrix(64), quant.BF16, quant.BF16},
		{"router's scale", "q4_0", model.Router, quant.BF16, []int{64}, quant.F32, quant.F32},
		{"self-conditioning", "q4_0", model.SelfConditioning, quant.F32, matrix(64), quant.F32, quant.F32},
		{"self-conditioning in blocks", "bf16", model.SelfConditioning, quant.Q6_K, matrix(256), quant.Q6_K, quant.Q6_K},
		{"norm", "q4_0", model.Norm, quant.F16, []int{64}, quant.F32, quant.F32},
		{"scalar", "f16", model.Scalar, quant.BF16, []int{1}, quant.F32, quant.F32},
		{"divisors", "q8_0", model.Rotary, quant.F32, []int{64}, quant.F32, quant.F32},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := findPlan(c.plan)
			if !ok {
				t.Fatal("no such plan")
			}
			if format, wanted := p.format(c.kind, c.stored, c.shape); format != c.format || wanted != c.wanted {
				t.Errorf("%v for %v, want %v for %v", format, wanted, c.format, c.wanted)
			}
		})
	}
}

// Every format that a plan names can be written, and every kind has a place.
func TestPlansCanBeWritten(t *testing.T) {
	for _, p := range plans {
		for kind, f := range p.formats {
			if !f.HasEncoder() {
				t.Errorf("%s: %v has no encoder", p.name, f)
			}
			if p.name != "f16" && p.name != "bf16" && kind == model.Table && f != quant.Q8_0 {
				t.Errorf("%s: the table in %v", p.name, f)
			}
		}
	}
}
