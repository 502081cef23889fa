package gemma

import "github.com/frescolm/fresco/internal/kernel"

// route chooses the experts of every row from the raw residual stream, which the
// router norms by itself (model.md §3.2). It fills scratch.ids and
// scratch.chosenWeights [rows × chosen].
func (f *forward) route(i int, x []float32, rows int) {
	c, w, t, s := f.config, &f.weights.layers[i], f.team, &f.scratch
	input := floats(&s.routed, len(x))
	t.RouterScale(input, x, w.routerScale, rows, c.eps, f.routerRoot, f.round)
	scores := floats(&s.scores, rows*c.experts)
	t.Linear(scores, input, rows, w.router, f.round)
	n := rows * c.chosen
	if cap(s.ids) < n {
		s.ids = make([]int32, n)
	}
	s.ids = s.ids[:n]
	t.Route(s.ids, floats(&s.chosenWeights, n), scores, w.perExpert, rows, c.chosen)
	if f.probe != nil && f.probe.router != nil {
		f.probe.router(i, s.ids, s.chosenWeights, rows)
	}
}

// expertBranch computes the chosen experts of every row and adds their outputs
// in the order of the slots. Rows are gathered by expert, so that each expert's
// weights are read once.
func (f *forward) expertBranch(i int, x []float32, rows int) []float32 {
	c, w, t, s := f.config, &f.weights.layers[i], f.team, &f.scratch
	normed := floats(&s.normed, len(x))
	t.RMSNorm(normed, x, w.preExpertNorm, rows, c.eps, f.round)
	s.offsets, s.order = kernel.Group(s.offsets, s.order, s.ids, c.experts)
	f.clock.chosen(i, s.offsets)
	n := len(s.ids)
	place := ints(&s.place, n)
	for at, slot := range s.order {
		place[slot] = at
	}
	gathered := floats(&s.gathered, n*c.hidden)
	t.GatherRows(gathered, normed, s.order, c.chosen, c.hidden)
	act := floats(&s.expertAct, n*c.expert)
	gateUp := floats(&s.gateUp, n*2*c.expert)
	if w.expertGate.Rows > 0 {
		gate, up := gateUp[:n*c.expert], gateUp[n*c.expert:]
		t.LinearGrouped(gate, gathered, s.offsets, w.expertGate, c.expert, f.round)
		t.LinearGrouped(up, gathered, s.offsets, w.expertUp, c.expert, f.round)
		t.GELUMulSplit(act, gate, up, n, c.expert, f.round)
	} else {
		t.LinearGrouped(gateUp, gathered, s.offsets, w.expertGateUp, 2*c.expert, f.round)
		t.GELUMul(act, gateUp, n, c.expert, f.round)
	}
	out := floats(&s.expertOut, n*c.hidden)
	t.LinearGrouped(out, act, s.offsets, w.expertDown, c.hidden, f.round)
	mixed := floats(&s.experts, len(x))
	t.MixExperts(mixed, out, s.chosenWeights, place, rows, c.chosen, c.hidden, f.round)
	return mixed
}
