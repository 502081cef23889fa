package gemma

import (
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// selfCondition turns the scaled embeddings x [rows × hidden] into the input of
// the first layer, in place (model.md §4):
//
//	x = norm(x + mlp(preNorm(signal)))
//
// where signal is the soft embedding of the previous step's logits. Before the
// first step there are none: the signal is zero, hence the network's output, and
// the weightless norm remains.
func (f *forward) selfCondition(x []float32, previous *kernel.Logits, scratch *kernel.SoftScratch) {
	c, t, s := f.config, f.team, &f.scratch
	rows := len(x) / c.hidden
	f.clock.enter(model.PartSelfConditioning)
	if previous != nil {
		signal := floats(&s.projected, len(x))
		t.SoftEmbed(signal, previous, f.weights.embed, f.embedScale, scratch)
		w := &f.weights.self
		out := f.mlp(floats(&s.dense, len(x)), signal, w.preNorm, w.gate, w.up, w.down, rows)
		t.Add(x, x, out, rows, f.round)
	}
	t.RMSNorm(x, x, nil, rows, c.eps, f.round)
	f.clock.enter(model.PartOther)
}
