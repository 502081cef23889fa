package gemma

import "github.com/frescolm/fresco/internal/model"

// layer computes one transformer layer (model.md §3.2) of rows x [rows ×
// hidden] in place and returns the rows that are needed:
//
//	x = x + postAttentionNorm(attention(inputNorm(x)))
//	d = postDenseNorm(mlp(preDenseNorm(x)))
//	m = postExpertNorm(experts(preExpertNorm(x), router(x)))
//	x = (x + postNorm(d + m)) · layer scalar
//
// With need only those rows go on after the keys and values were stored, and x
// then holds need's rows alone.
func (f *forward) layer(p *pass, i int, x []float32, need []int) []float32 {
	c, w, t, s := f.config, &f.weights.layers[i], f.team, &f.scratch
	attention := f.attention(p, i, x, need)
	if need != nil {
		x = f.keepRows(x, need)
	}
	rows := len(x) / c.hidden
	t.Add(x, x, attention, rows, f.round)

	f.clock.enter(model.PartDense)
	dense := f.mlp(floats(&s.dense, len(x)), x, w.preDenseNorm, w.gate, w.up, w.down, rows)
	f.clock.enter(model.PartOther)
	t.RMSNorm(dense, dense, w.postDenseNorm, rows, c.eps, f.round)

	f.clock.enter(model.PartExperts)
	f.route(i, x, rows)
	experts := f.expertBranch(i, x, rows)
	f.clock.enter(model.PartOther)
	t.RMSNorm(experts, experts, w.postExpertNorm, rows, c.eps, f.round)

	t.Add(dense, dense, experts, rows, f.round)
	t.RMSNorm(dense, dense, w.postNorm, rows, c.eps, f.round)
	t.AddScale(x, dense, rows, p.scalars[i], f.round)
	return x
}
