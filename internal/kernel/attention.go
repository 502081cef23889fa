package kernel

import (
	"math"

	"github.com/frescolm/fresco/internal/dtype"
)

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
}

// attentionRows is the number of query rows of one work item; together with the
// query heads that share a KV head they reuse each unpacked key.
const attentionRows = 8

// maxScores bounds the scores that one work item keeps (16 MB of float32). Rows
// are then taken one by one; the results do not depend on it.
const maxScores = 4 << 20

// Attend computes a.Out. Work items are (KV head, block of query rows). Each row
// is a sum over its own span by ascending position.
func (t *Team) Attend(a *Attention) {
	rows := len(a.Spans)
	if rows == 0 {
		return
	}
	perItem := attentionRows
	for perItem > 1 && perItem*(a.Heads/a.KVHeads)*(a.Spans[rows-1].Hi-a.Blocks[0].First) > maxScores {
		perItem /= 2
	}
	groups := (rows + perItem - 1) / perItem
	t.pool.Run(groups*a.KVHeads, func(worker, item int) {
		first := item / a.KVHeads * perItem
		t.attendRows(a, &t.scratch[worker], first, min(first+perItem, rows), item%a.KVHeads)
	})
}

// attendRows computes the query heads of one KV head for rows first … last-1.
func (t *Team) attendRows(a *Attention, s *workerScratch, first, last, kvHead int) {
	group := a.Heads / a.KVHeads
	lo, hi := a.Spans[first].Lo, a.Spans[first].Hi
	for _, span := range a.Spans[first:last] {
		lo, hi = min(lo, span.Lo), max(hi, span.Hi)
	}
	keys := hi - lo
	scores := grow(&s.scores, (last-first)*group*keys)
	stride := a.Heads * a.Dim

	// Scores. A row's head is a row of the product, a key a column; what a row
	// does not see is computed with the others and never read.
	for i := range a.Blocks {
		b := &a.Blocks[i]
		from, to := max(lo, b.First), min(hi, b.First+b.Count)
		if from >= to {
			continue
		}
		panel := b.unpackHead(&s.panel, true, from, to, kvHead, a.KVHeads, a.Dim)
		for r := first; r < last; r++ {
			q := a.Q[r*stride+kvHead*group*a.Dim:]
			t.set.product(scores[(r-first)*group*keys+from-lo:], keys, q, a.Dim, group, panel, to-from, a.Dim)
		}
	}

	// Softmax over what each row sees; the sum is divided out at the end.
	sums := grow(&s.rows, (last-first)*group)
	for r := first; r < last; r++ {
		span := a.Spans[r]
		for h := range group {
			at := (r-first)*group + h
			row := scores[at*keys+span.Lo-lo : at*keys+span.Hi-lo]
			sums[at] = t.set.softmaxRow(row, a.Round == BF16)
		}
	}

	// Values.
	for r := first; r < last; r++ {
		clear(a.Out[r*stride+kvHead*group*a.Dim : r*stride+(kvHead+1)*group*a.Dim])
	}
	for i := range a.Blocks {
		b := &a.Blocks[i]
		from, to := max(lo, b.First), min(hi, b.First+b.Count)
		if from >= to {
			continue
		}
		panel := b.unpackHead(&s.panel, false, from, to, kvHead, a.KVHeads, a.Dim)
		for r := first; r < last; r++ {
			span := a.Spans[r]
			f, e := max(from, span.Lo), min(to, span.Hi)
			if f >= e {
				continue
			}
			for h := range group {
				at := (r-first)*group + h
				out := a.Out[r*stride+(kvHead*group+h)*a.Dim:][:a.Dim]
				t.set.accumulate(out, panel[(f-from)*a.Dim:], a.Dim, scores[at*keys+f-lo:at*keys+e-lo])
			}
		}
	}
	for r := first; r < last; r++ {
		for h := range group {
			out := a.Out[r*stride+(kvHead*group+h)*a.Dim:][:a.Dim]
			sum := sums[(r-first)*group+h]
			for j, v := range out {
				out[j] = a.Round.value(v / sum)
			}
		}
	}
}

// unpackHead returns keys or values of one head for the positions from … to-1
// as [positions × dim] float32.
func (b *KVBlock) unpackHead(buf *[]float32, keys bool, from, to, head, heads, dim int) []float32 {
	f32, f16 := b.V32, b.V16
	if keys {
		f32, f16 = b.K32, b.K16
	}
	panel := grow(buf, (to-from)*dim)
	for p := from; p < to; p++ {
		at := ((p-b.First)*heads + head) * dim
		row := panel[(p-from)*dim : (p-from+1)*dim]
		if f32 != nil {
			copy(row, f32[at:at+dim])
		} else {
			dtype.DecodeBF16(row, f16[at:at+dim])
		}
	}
	return panel
}

// softmaxRowGeneric replaces p by exp(p - max p) and returns the float32 sum,
// added by ascending index. With round the stored values are rounded to bf16 as
// the official fused attention does before it multiplies them with the values,
// while the sum is that of the unrounded ones.
func softmaxRowGeneric(p []float32, round bool) float32 {
	top := float32(math.Inf(-1))
	for _, v := range p {
		top = max(top, v)
	}
	var sum float32
	for i, v := range p {
		e := exp32(v - top)
		sum += e
		if round {
			e = bf16(e)
		}
		p[i] = e
	}
	return sum
}
