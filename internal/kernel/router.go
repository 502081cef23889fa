package kernel

// RouterScale computes the router's input from the raw residual (model.md
// §3.2): weightless RMSNorm, times scale, times hidden^(-1/2), each result
// rounded. root is hidden^(-1/2) as a float32.
func (t *Team) RouterScale(dst, x, scale []float32, rows int, eps, root float32, round Rounding) {
	n := width(x, rows)
	t.eachRow(rows, func(r int) {
		d := dst[r*n : (r+1)*n]
		t.set.rmsNorm(d, x[r*n:(r+1)*n], nil, eps, round)
		for i, v := range d {
			d[i] = round.value(float32(round.value(float32(v*scale[i])) * root))
		}
	})
}

// Route chooses the experts of each row from its scores [rows × experts]: softmax
// in float32, the k most likely in descending order (expertList says which of
// equal ones), their probabilities divided by their sum and multiplied by the expert's
// own scale. ids and weights are [rows × k]; scores are overwritten.
func (t *Team) Route(ids []int32, weights, scores, perExpert []float32, rows, k int) {
	n := width(scores, rows)
	t.pool.Run(rows, func(worker, r int) {
		p := scores[r*n : (r+1)*n]
		largest, _ := largest(p, 0)
		sum := softmaxGeneric(p, largest, F32)
		for i, v := range p {
			p[i] = v / sum
		}
		id, w := ids[r*k:(r+1)*k], weights[r*k:(r+1)*k]
		var total float32
		for j, e := range t.scratch[worker].experts.top(p, k) {
			id[j], w[j] = e.id, e.p
			total += e.p
		}
		for j, e := range id {
			w[j] = float32(w[j] / total * perExpert[e])
		}
	})
}

// Group sorts assignments by expert: it returns for every expert the range of
// its rows in order, offsets [experts+1], and order [len(ids)], the indexes into
// ids by expert and within one by ascending index. Both reuse their buffers.
func Group(offsets, order []int, ids []int32, experts int) ([]int, []int) {
	offsets = append(offsets[:0], make([]int, experts+1)...)
	order = append(order[:0], make([]int, len(ids))...)
	for _, e := range ids {
		offsets[e+1]++
	}
	for e := range experts {
		offsets[e+1] += offsets[e]
	}
	next := append([]int(nil), offsets[:experts]...)
	for i, e := range ids {
		order[next[e]] = i
		next[e]++
	}
	return offsets, order
}

// GatherRows copies rows of x: dst row i is x row order[i]/per.
func (t *Team) GatherRows(dst, x []float32, order []int, per, n int) {
	t.eachRow(len(order), func(r int) {
		from := order[r] / per
		copy(dst[r*n:(r+1)*n], x[from*n:(from+1)*n])
	})
}

// MixExperts adds the expert outputs of each row in the order of its slots, each
// times its float32 weight, in float32, and rounds once. y holds the outputs by
// expert; place[row·k+slot] is the row of y that holds the slot's.
func (t *Team) MixExperts(dst, y, weights []float32, place []int, rows, k, n int, round Rounding) {
	t.eachRow(rows, func(r int) {
		d := dst[r*n : (r+1)*n]
		clear(d)
		for j := range k {
			w := weights[r*k+j]
			out := y[place[r*k+j]*n:][:n]
			for i, v := range out {
				d[i] += float32(v * w)
			}
		}
		round.slice(d)
	})
}
