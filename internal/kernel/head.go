package kernel

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/rng"
)

// A HeadRow says what is wanted of the distribution of one row.
type HeadRow struct {
	// Temperature divides the adjusted logits; > 0.
	Temperature float32
	Adjust      canvas.Adjustment
	// Candidates shapes the draw: a temperature of its own (0 takes the argmax)
	// and a filter.
	Candidates canvas.Candidates
	// Allowed, when not nil, lists the only ids that may be drawn, ascending.
	Allowed []int32
	Draw    canvas.Address
	Score   []int32
	Top     int
}

// vocabRow collects the panel sums of one row: with m the largest processed
// logit of a panel, sum = Σ exp(l-m) and dot = Σ exp(l-m)·(l-m).
type vocabRow struct {
	vocab *Vocabulary
	how   *processing
	panel []panelSums
}

type panelSums struct {
	top       float32
	argmax    int32
	nonFinite bool
	sum, dot  float64
}

// vocabPanelGeneric turns the head outputs z of ids first … into processed
// logits in place and enters their sums into the row.
func vocabPanelGeneric(row *vocabRow, first int, z []float32) {
	p := &row.panel[first/VocabPanel]
	*p = panelSums{top: negInf, argmax: int32(first)}
	if !Finite(z) {
		p.nonFinite = true
		return
	}
	row.vocab.process(z, first, row.how)
	p.top, p.argmax = largest(z, first)
	switch {
	case p.top == negInf:
		return
	case p.top > math.MaxFloat32: // an adjustment or the temperature was too much
		p.nonFinite = true
		return
	}
	for _, l := range z {
		d := l - p.top
		if e := exp32(d); e > 0 {
			p.sum += float64(e)
			p.dot += float64(float64(e) * float64(d))
		}
	}
}

// largest returns the largest value and its id; of equal ones the lowest.
func largest(l []float32, first int) (top float32, id int32) {
	top, id = negInf, int32(first)
	for i, v := range l {
		if v > top {
			top, id = v, int32(first+i)
		}
	}
	return top, id
}

// HeadScratch is the memory of Head that outlives a call.
type HeadScratch struct {
	panels []panelSums
	rows   []vocabRow
	// Times, when set, gets what the workers took added. Nothing is timed without.
	Times *HeadTimes
}

// HeadTimes tells the two parts of Head apart, which run panel by panel: the time
// of all workers, in nanoseconds.
type HeadTimes struct {
	// Product is that of unpacking and multiplying, Statistics that of everything
	// behind it: keeping the logits, sums, draws.
	Product, Statistics atomic.Int64
}

// begin returns the time when it is wanted.
func (h *HeadTimes) begin() time.Time {
	if h == nil {
		return time.Time{}
	}
	return time.Now()
}

// end adds the time since begin to one of the parts.
func (h *HeadTimes) end(statistics bool, begun time.Time) {
	switch {
	case h == nil:
	case statistics:
		h.Statistics.Add(int64(time.Since(begun)))
	default:
		h.Product.Add(int64(time.Since(begun)))
	}
}

// Head computes the logits of rows of x [len(want) × hidden] against the table,
// keeps them in l, and fills stats with what was wanted of each row. l must have
// been Reset to that many rows. Each vocabulary panel is computed, kept and
// summed while it is in cache; the full matrix of float32 logits never exists.
func (t *Team) Head(l *Logits, stats []canvas.Stats, x []float32, table Matrix, want []HeadRow, s *HeadScratch) {
	rows, size := len(want), l.vocab.Size
	panels := (size + VocabPanel - 1) / VocabPanel
	s.panels = slices.Grow(s.panels[:0], rows*panels)[:rows*panels]
	s.rows = slices.Grow(s.rows[:0], rows)[:rows]
	l.injected = false
	for r := range want {
		how := &l.row[r]
		how.temperature = want[r].Temperature
		how.adjust.Bias = append(how.adjust.Bias[:0], want[r].Adjust.Bias...)
		how.adjust.Repetition = append(how.adjust.Repetition[:0], want[r].Adjust.Repetition...)
		s.rows[r] = vocabRow{&l.vocab, how, s.panels[r*panels : (r+1)*panels]}
	}
	t.pool.Run(panels, func(worker, item int) {
		w := &t.scratch[worker]
		first := item * VocabPanel
		n := min(VocabPanel, size-first)
		z := grow(&w.rows, rows*n)
		begun := s.Times.begin()
		for at := 0; at < n; at += panelRows {
			k := min(panelRows, n-at)
			panel := grow(&w.panel, panelRows*table.Cols)
			table.unpack(panel, first+at, k, l.round)
			t.set.product(z[at:], n, x, table.Cols, rows, panel, k, table.Cols)
		}
		s.Times.end(false, begun)
		begun = s.Times.begin()
		l.round.slice(z)
		for r := range rows {
			l.store(r, first, z[r*n:(r+1)*n])
			t.set.vocabPanel(&s.rows[r], first, z[r*n:(r+1)*n])
		}
		s.Times.end(true, begun)
	})
	t.pool.Run(rows, func(worker, r int) {
		begun := s.Times.begin()
		t.finishRow(&stats[r], l, r, &s.rows[r], &want[r], &t.scratch[worker])
		s.Times.end(true, begun)
	})
}

// finishRow turns panel sums into the statistics of a row.
func (t *Team) finishRow(st *canvas.Stats, l *Logits, r int, row *vocabRow, want *HeadRow, w *workerScratch) {
	*st = canvas.Stats{Scores: st.Scores[:0], Top: st.Top[:0]}
	top := negInf
	for i := range row.panel {
		p := &row.panel[i]
		if p.nonFinite {
			st.NonFinite = true
			return
		}
		if p.top > top {
			top, st.Argmax = p.top, p.argmax
		}
	}
	if top == negInf { // every logit was pushed out of range
		st.NonFinite = true
		return
	}
	var sum, dot float64
	for i := range row.panel {
		if p := &row.panel[i]; p.top > negInf {
			d := float64(p.top) - float64(top)
			scale := exp64(d)
			sum += float64(p.sum * scale)
			dot += float64(scale * (p.dot + float64(p.sum*d)))
		}
	}
	st.Entropy = max(0, float32(log64(sum)-dot/sum))
	st.Sample = st.Argmax
	plain := want.Candidates.Filter.Empty() && want.Allowed == nil
	switch {
	case want.Candidates.Temperature == 0 && want.Allowed == nil:
	case plain && want.Candidates.Temperature == 1:
		st.Sample = t.draw(l, r, row.panel, top, sum, uniform(want.Draw), w)
	default:
		var ok bool
		if st.Sample, ok = t.drawShaped(l, r, want, w); !ok {
			st.NonFinite = true
		}
	}
	if len(want.Score) > 0 || want.Top > 0 {
		l.score(st, r, want.Score, want.Top, w)
	}
}

// uniform is the number in [0, 1) at an address.
func uniform(a canvas.Address) float64 { return rng.Uniform(rng.Block(a.Key(), a.Counter())) }
