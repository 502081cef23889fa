package kernel

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/frescolm/fresco/internal/canvas"
)

// draw takes a token by inverse CDF: u·sum is looked for in the panel sums by
// ascending id, then among the ids of its panel, everything added in float64.
// docs/randomness.md defines it.
func (t *Team) draw(l *Logits, r int, panels []panelSums, top float32, sum, u float64, w *workerScratch) int32 {
	c := choosePanel(panels, top, u*sum)
	first := c.panel * VocabPanel
	z := grow(&w.rows, min(VocabPanel, l.vocab.Size-first))
	l.processed(z, r, first)
	return c.id(z)
}

// panelChoice is the panel in which a draw falls.
type panelChoice struct {
	panel int
	// top is the largest logit of the panel, scale = exp(top - row's largest).
	top   float32
	scale float64
	// before is the sum of the panels before it, target what the draw looks for.
	before, target float64
}

// choosePanel returns the first panel with which the running sum exceeds target,
// or the last with a probability above 0 where rounding keeps it below.
func choosePanel(panels []panelSums, top float32, target float64) panelChoice {
	c := panelChoice{target: target}
	var sum float64
	for i := range panels {
		p := &panels[i]
		if p.sum == 0 {
			continue
		}
		scale := exp64(float64(p.top) - float64(top))
		weight := float64(p.sum * scale)
		c.panel, c.top, c.scale, c.before = i, p.top, scale, sum
		if sum+weight > target {
			break
		}
		sum += weight
	}
	return c
}

// id returns the first id of the panel with which the running sum exceeds the
// target, or the last with a probability above 0. z holds the panel's logits.
func (c *panelChoice) id(z []float32) int32 {
	first, sum := c.panel*VocabPanel, c.before
	id := int32(first)
	for i, v := range z {
		e := exp32(v - c.top)
		if e == 0 {
			continue
		}
		id = int32(first + i)
		sum += float64(float64(e) * c.scale)
		if sum > c.target {
			break
		}
	}
	return id
}

// drawShaped draws from a distribution with a temperature of its own, a filter,
// or a list of allowed ids: the same inverse CDF over the logits that are left.
// ok is false when nothing is left that can be drawn, or when the temperature
// makes the logits overflow.
func (t *Team) drawShaped(l *Logits, r int, want *HeadRow, w *workerScratch) (id int32, ok bool) {
	z := grow(&w.scores, l.vocab.Size)
	l.processed(z, r, 0)
	if want.Allowed != nil {
		keep(z, want.Allowed)
	}
	if want.Candidates.Temperature == 0 {
		top, id := largest(z, 0)
		return id, top != negInf
	}
	if want.Candidates.Temperature != 1 {
		for i, v := range z {
			z[i] = v / want.Candidates.Temperature
		}
	}
	filter(z, want.Candidates.Filter)

	top, _ := largest(z, 0)
	if math.IsInf(float64(top), 0) {
		return 0, false
	}
	panels := make([]panelSums, (len(z)+VocabPanel-1)/VocabPanel)
	var sum float64
	for i := range panels {
		p := &panels[i]
		part := z[i*VocabPanel : min(len(z), (i+1)*VocabPanel)]
		p.top, _ = largest(part, 0)
		if p.top == negInf {
			continue
		}
		for _, v := range part {
			p.sum += float64(exp32(v - p.top))
		}
		sum += float64(p.sum * exp64(float64(p.top)-float64(top)))
	}
	c := choosePanel(panels, top, uniform(want.Draw)*sum)
	first := c.panel * VocabPanel
	return c.id(z[first:min(len(z), first+VocabPanel)]), true
}

// keep removes every id that is not in allowed (ascending).
func keep(z []float32, allowed []int32) {
	next := 0
	for i := range z {
		if next < len(allowed) && int(allowed[next]) == i {
			next++
			continue
		}
		z[i] = negInf
	}
}

// filter removes what f does not keep: canvas.Filter defines it.
func filter(z []float32, f canvas.Filter) {
	if f.Empty() {
		return
	}
	top, _ := largest(z, 0)
	if f.TopK > 0 && f.TopK < len(z) {
		sorted := slices.Clone(z)
		slices.SortFunc(sorted, func(a, b float32) int { return cmp.Compare(b, a) })
		cut(z, sorted[f.TopK-1])
	}
	if f.TopP > 0 && f.TopP < 1 {
		threshold, tied := topPThreshold(z, top, float64(f.TopP))
		cut(z, threshold)
		for i, v := range z {
			if v != threshold {
				continue
			}
			if tied == 0 {
				z[i] = negInf
			} else {
				tied--
			}
		}
	}
	if f.MinP > 0 {
		for i, v := range z {
			if exp32(v-top) < f.MinP {
				z[i] = negInf
			}
		}
	}
}

// cut removes what lies below a threshold.
func cut(z []float32, threshold float32) {
	for i, v := range z {
		if v < threshold {
			z[i] = negInf
		}
	}
}

// topPThreshold finds the token with which the probability, added in descending
// order, reaches p: its logit, and how many tokens of just this logit are among
// those that were added. Of equal ones the lowest ids come first.
func topPThreshold(z []float32, top float32, p float64) (threshold float32, tied int) {
	sorted := slices.Clone(z)
	slices.SortFunc(sorted, func(a, b float32) int { return cmp.Compare(b, a) })
	var total float64
	for _, v := range sorted {
		total += float64(exp32(v - top))
	}
	var sum float64
	for _, v := range sorted {
		if v != threshold || tied == 0 {
			threshold, tied = v, 0
		}
		tied++
		sum += float64(exp32(v - top))
		if sum >= float64(p*total) {
			break
		}
	}
	return threshold, tied
}

// score fills in log-probabilities under the model's own distribution:
// temperature 1, before adjustments and filters.
func (l *Logits) score(st *canvas.Stats, r int, ids []int32, n int, w *workerScratch) {
	z := grow(&w.scores, l.vocab.Size)
	l.load(z, r, 0)
	l.vocab.cap(z)
	l.vocab.mask(z, 0)
	top, _ := largest(z, 0)
	var sum float64
	for first := 0; first < len(z); first += VocabPanel {
		var part float64
		for _, v := range z[first:min(len(z), first+VocabPanel)] {
			part += float64(exp32(v - top))
		}
		sum += part
	}
	lse := float64(top) + log64(sum)
	for _, id := range ids {
		st.Scores = append(st.Scores, float32(float64(z[id])-lse))
	}
	n = min(n, len(z))
	for id, v := range z {
		if len(st.Top) == n && (n == 0 || v <= st.Top[n-1].LogProb) {
			continue
		}
		if v == negInf {
			continue
		}
		at := sort.Search(len(st.Top), func(i int) bool { return st.Top[i].LogProb < v })
		if len(st.Top) < n {
			st.Top = append(st.Top, canvas.Scored{})
		}
		copy(st.Top[at+1:], st.Top[at:])
		st.Top[at] = canvas.Scored{ID: int32(id), LogProb: v}
	}
	for i := range st.Top {
		st.Top[i].LogProb = float32(float64(st.Top[i].LogProb) - lse)
	}
}
