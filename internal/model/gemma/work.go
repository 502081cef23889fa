package gemma

import (
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// work is a pass whose work is to be counted.
type work struct {
	config  *config
	weights *modelWeights
	pass    *pass
	// heads is the number of rows whose logits are computed.
	heads int
	// conditioned is true when there is a soft embedding.
	conditioned bool
}

// count returns the work by part; experts holds, by layer, how many experts have
// rows.
func (w *work) count(experts []int) *model.Profile {
	var p model.Profile
	add := func(part model.Part, rows int, m kernel.Matrix) {
		p[part].Operations += 2 * float64(rows) * float64(m.Rows) * float64(m.Cols)
		p[part].WeightBytes += m.Bytes()
	}
	all := w.pass.rows
	for i := range w.config.layers {
		if all == 0 { // only the head of a row that is known already
			break
		}
		l, lw := &w.config.layers[i], &w.weights.layers[i]
		rows, need := all, []int(nil)
		if i == len(w.config.layers)-1 && w.pass.need != nil {
			rows, need = len(w.pass.need), w.pass.need
		}
		add(model.PartProjections, all, lw.k)
		if l.v() {
			add(model.PartProjections, all, lw.v)
		}
		add(model.PartProjections, rows, lw.q)
		add(model.PartProjections, rows, lw.o)
		p[model.PartAttention].Operations += 4 * float64(l.heads) * float64(l.headDim) * w.seen(l.kind, rows, need)
		add(model.PartDense, rows, lw.gate)
		add(model.PartDense, rows, lw.up)
		add(model.PartDense, rows, lw.down)
		add(model.PartExperts, rows, lw.router)
		w.expertWork(&p[model.PartExperts], rows, experts[i], lw)
	}
	if w.heads > 0 {
		add(model.PartHead, w.heads, w.weights.head)
	}
	if w.conditioned {
		add(model.PartSelfConditioning, all, w.weights.embed)
		add(model.PartSelfConditioning, all, w.weights.self.gate)
		add(model.PartSelfConditioning, all, w.weights.self.up)
		add(model.PartSelfConditioning, all, w.weights.self.down)
	}
	return &p
}

// seen adds up how many positions the rows of a layer see.
func (w *work) seen(kind model.LayerKind, rows int, need []int) float64 {
	n := 0.0
	for r := range rows {
		if need != nil {
			r = need[r]
		}
		span := w.pass.span(kind, r)
		n += float64(span.Hi - span.Lo)
	}
	return n
}

// expertWork adds the expert branch of a layer: chosen experts for each row, the
// weights of those that have any.
func (w *work) expertWork(p *model.PartProfile, rows, touched int, l *layerWeights) {
	all := float64(w.config.experts)
	for _, m := range []kernel.Matrix{l.expertGateUp, l.expertDown} {
		each := float64(m.Rows) * float64(m.Cols) / all
		p.Operations += 2 * float64(rows) * float64(w.config.chosen) * each
		p.WeightBytes += m.Bytes() / int64(w.config.experts) * int64(touched)
	}
}
