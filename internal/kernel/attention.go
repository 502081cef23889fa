package kernel

import "github.com/frescolm/fresco/internal/dtype"

// A KVBlock holds keys and values of consecutive positions, as the cache stores
// them: [Count × KV heads × head dimension], in float32 or bfloat16.
type KVBlock struct {
	// First is the absolute position of the first entry.
	First, Count int
	K32, V32     []float32
	K16, V16     []uint16
}

// A Span is the half-open range of absolute positions that a query sees.
type Span struct{ Lo, Hi int }

// Attention is one attention call: grouped-query attention with scale 1, no
// soft-cap, softmax in float32 (model.md §3.3).
type Attention struct {
	// Q and Out are [rows × Heads × Dim].
	Q, Out              []float32
	Heads, KVHeads, Dim int
	// Spans says what each row sees: never nothing. A causal row sees up to
	// itself, a canvas row the whole rectangle.
	Spans []Span
	// Blocks hold the keys and values by ascending position, covering all spans.
	Blocks []KVBlock
	Round  Rounding
	// VectorTail makes the last so many keys of Blocks use the accurate exponential
	// in bf16 arithmetic. The official kernel does so for the keys of a pass that
	// do not fill a vector of 16. A row would then depend on the pass that it is
	// part of, so only the golden tests set it, to prove that nothing else differs.
	VectorTail int
}

// attentionRows is the number of query rows of one work item; together with the
// query heads that share a KV head they reuse each unpacked key.
const attentionRows = 8

// attentionBlock is the number of keys whose softmax is taken together. Blocks
// begin at multiples of it, at fixed absolute positions, so what a row computes
// does not depend on how its prefix was cut. The official fused attention works
// in blocks of this size as well.
const attentionBlock = 512

// Attend computes a.Out. Work items are (KV head, block of query rows). A row
// goes over its span by ascending position, block by block, with a running
// maximum.
func (t *Team) Attend(a *Attention) {
	rows := len(a.Spans)
	groups := (rows + attentionRows - 1) / attentionRows
	t.pool.Run(groups*a.KVHeads, func(worker, item int) {
		first := item / a.KVHeads * attentionRows
		t.attendRows(a, &t.scratch[worker], first, min(first+attentionRows, rows), item%a.KVHeads)
	})
}

// rowSoftmax is the running softmax of one row and head.
type rowSoftmax struct{ top, sum float32 }

// attendRows computes the query heads of one KV head for rows first … last-1.
func (t *Team) attendRows(a *Attention, s *workerScratch, first, last, kvHead int) {
	group := a.Heads / a.KVHeads
	lo, hi := a.Spans[first].Lo, a.Spans[first].Hi
	for _, span := range a.Spans[first:last] {
		lo, hi = min(lo, span.Lo), max(hi, span.Hi)
	}
	n := (last - first) * group
	if cap(s.softmax) < n {
		s.softmax = make([]rowSoftmax, n)
	}
	s.softmax = s.softmax[:n]
	for i := range s.softmax {
		s.softmax[i] = rowSoftmax{top: negInf}
	}
	stride := a.Heads * a.Dim
	for r := first; r < last; r++ {
		clear(a.Out[r*stride+kvHead*group*a.Dim : r*stride+(kvHead+1)*group*a.Dim])
	}
	for from := lo; from < hi; {
		to := min(hi, (from/attentionBlock+1)*attentionBlock)
		t.attendBlock(a, s, first, last, kvHead, from, to)
		from = to
	}
	for r := first; r < last; r++ {
		for h := range group {
			out := a.Out[r*stride+(kvHead*group+h)*a.Dim:][:a.Dim]
			sum := s.softmax[(r-first)*group+h].sum
			for j, v := range out {
				out[j] = a.Round.value(v / sum)
			}
		}
	}
}

// attendBlock adds the keys from … to-1, of one attentionBlock, to the rows that
// see them.
func (t *Team) attendBlock(a *Attention, s *workerScratch, first, last, kvHead, from, to int) {
	group, keys, stride := a.Heads/a.KVHeads, to-from, a.Heads*a.Dim
	scores := grow(&s.scores, (last-first)*group*keys)
	panel := grow(&s.panel, keys*a.Dim)

	// A row's head is a row of the product, a key a column; what a row does not
	// see is computed with the others and never read.
	a.unpackHead(panel, true, from, to, kvHead)
	q := a.Q[first*stride+kvHead*group*a.Dim:]
	if last-first >= group {
		// One head of all rows at a time: a product likes many rows.
		for h := range group {
			t.set.product(scores[h*keys:], group*keys, q[h*a.Dim:], stride, last-first, panel, keys, a.Dim)
		}
	} else {
		for r := range last - first {
			t.set.product(scores[r*group*keys:], keys, q[r*stride:], a.Dim, group, panel, keys, a.Dim)
		}
	}
	a.unpackHead(panel, false, from, to, kvHead)
	for r := first; r < last; r++ {
		f, e := max(from, a.Spans[r].Lo), min(to, a.Spans[r].Hi)
		if f >= e {
			continue
		}
		for h := range group {
			at := (r-first)*group + h
			p := scores[at*keys+f-from : at*keys+e-from]
			out := a.Out[r*stride+(kvHead*group+h)*a.Dim:][:a.Dim]
			state := &s.softmax[at]
			top := state.top
			for _, v := range p {
				top = max(top, v)
			}
			if state.sum > 0 && top > state.top {
				shrink := exp32(state.top - top)
				state.sum = float32(state.sum * shrink)
				for j, v := range out {
					out[j] = float32(v * shrink)
				}
			}
			state.top = top
			state.sum += t.softmaxKeys(a, p, f, top)
			t.set.accumulate(out, panel[(f-from)*a.Dim:], a.Dim, p)
		}
	}
}

// softmaxKeys takes the exponentials of the scores p of keys from first on.
func (t *Team) softmaxKeys(a *Attention, p []float32, first int, top float32) float32 {
	if a.VectorTail == 0 || a.Round != BF16 {
		return t.set.softmax(p, top, a.Round)
	}
	end := a.Blocks[len(a.Blocks)-1]
	cut := min(max(end.First+end.Count-a.VectorTail-first, 0), len(p))
	sum := t.set.softmax(p[:cut], top, BF16) + softmaxGeneric(p[cut:], top, F32)
	a.Round.slice(p[cut:])
	return sum
}

// unpackHead writes keys or values of one head for the positions from … to-1 to
// dst [positions × dim].
func (a *Attention) unpackHead(dst []float32, keys bool, from, to, head int) {
	for i := range a.Blocks {
		b := &a.Blocks[i]
		f32, f16 := b.V32, b.V16
		if keys {
			f32, f16 = b.K32, b.K16
		}
		for p := max(from, b.First); p < min(to, b.First+b.Count); p++ {
			at := ((p-b.First)*a.KVHeads + head) * a.Dim
			row := dst[(p-from)*a.Dim : (p-from+1)*a.Dim]
			if f32 != nil {
				copy(row, f32[at:at+a.Dim])
			} else {
				dtype.DecodeBF16(row, f16[at:at+a.Dim])
			}
		}
	}
}

// softmaxGeneric replaces p by exp(p - top) and returns the float32 sum, added by
// ascending index. In bf16 arithmetic the values are those of the official fused
// attention: a fast exponential, rounded to bf16 before it is multiplied with the
// values of the cache, while the sum is that of the unrounded ones.
func softmaxGeneric(p []float32, top float32, round Rounding) float32 {
	var sum float32
	if round == BF16 {
		for i, v := range p {
			e := fastExp32(v - top)
			sum += e
			p[i] = bf16(e)
		}
		return sum
	}
	for i, v := range p {
		e := exp32(v - top)
		sum += e
		p[i] = e
	}
	return sum
}
