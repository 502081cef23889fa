package gemma

import "github.com/frescolm/fresco/internal/kernel"

// mlp computes down(GELU(gate·n) ⊙ up·n) with n = RMSNorm(x; norm) into dst
// [rows × hidden]: the dense branch of a layer, and the network of
// self-conditioning.
func (f *forward) mlp(dst, x, norm []float32, gate, up, down kernel.Matrix, rows int) []float32 {
	c, t, s := f.config, f.team, &f.scratch
	normed := floats(&s.normed, rows*c.hidden)
	t.RMSNorm(normed, x, norm, rows, c.eps, f.round)
	g, u := floats(&s.gate, rows*gate.Rows), floats(&s.up, rows*up.Rows)
	t.Linear(g, normed, rows, gate, f.round)
	t.Linear(u, normed, rows, up, f.round)
	t.GELUMulSplit(g, g, u, rows, gate.Rows, f.round)
	t.Linear(dst, g, rows, down, f.round)
	return dst
}
