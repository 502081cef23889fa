package gemma

import (
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// attention computes postAttentionNorm(o(attend(inputNorm(x)))) of a layer for
// all rows, or for the needed ones (model.md §3.3). Keys and values of all rows
// are stored before anything attends to them.
func (f *forward) attention(p *pass, i int, x []float32, need []int) []float32 {
	c, l, w, t, s := f.config, f.config.layers[i], &f.weights.layers[i], f.team, &f.scratch
	rows, kvWidth := p.rows, l.kvHeads*l.headDim
	rot := s.rotations[ropeKey{l.kind, l.headDim}]

	normed := floats(&s.normed, len(x))
	t.RMSNorm(normed, x, w.inputNorm, rows, c.eps, f.round)
	f.clock.enter(model.PartProjections)
	k, v := floats(&s.k, rows*kvWidth), floats(&s.v, rows*kvWidth)
	t.Linear(k, normed, rows, w.k, f.round)
	if l.v() {
		t.Linear(v, normed, rows, w.v, f.round)
	} else {
		copy(v, k) // the raw projection, before norm and rotation
	}
	f.clock.enter(model.PartOther)
	t.HeadNorm(k, w.kNorm, rows, l.kvHeads, l.headDim, c.eps, rot, f.round)
	t.HeadNorm(v, nil, rows, l.kvHeads, l.headDim, c.eps, nil, f.round)
	p.store(i, k, v)

	if need != nil {
		normed = f.keepRows(normed, need)
		rows = len(need)
		f.setRotations(p, need)
	}
	f.clock.enter(model.PartProjections)
	q := floats(&s.q, rows*l.heads*l.headDim)
	t.Linear(q, normed, rows, w.q, f.round)
	f.clock.enter(model.PartOther)
	t.HeadNorm(q, w.qNorm, rows, l.heads, l.headDim, c.eps, rot, f.round)

	s.spans = s.spans[:0]
	lo, hi := p.first+p.rows, 0
	for r := range rows {
		at := r
		if need != nil {
			at = need[r]
		}
		span := p.span(l.kind, at)
		s.spans = append(s.spans, span)
		lo, hi = min(lo, span.Lo), max(hi, span.Hi)
	}
	s.blocks = p.blocks(s.blocks[:0], i, lo, hi)
	attended := floats(&s.attended, len(q))
	tail := 0
	if f.probe != nil && f.probe.vectorTail {
		tail = (hi - lo) % 16
	}
	f.clock.enter(model.PartAttention)
	t.Attend(&kernel.Attention{
		VectorTail: tail, Q: q, Out: attended, Heads: l.heads, KVHeads: l.kvHeads, Dim: l.headDim,
		Spans: s.spans, Blocks: s.blocks, Round: f.round,
	})
	f.clock.enter(model.PartProjections)
	out := floats(&s.projected, rows*c.hidden)
	t.Linear(out, attended, rows, w.o, f.round)
	f.clock.enter(model.PartOther)
	t.RMSNorm(out, out, w.postAttentionNorm, rows, c.eps, f.round)
	return out
}
