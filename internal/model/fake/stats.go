package fake

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/rng"
)

// A Question is what is asked of one row of soft-capped logits. An Encode's
// canvas.Sampling and a Denoise both come down to it.
type Question struct {
	Adjust canvas.Adjustment
	// Temperature divides the adjusted logits, > 0.
	Temperature float32
	// Candidates shapes the draw alone.
	Candidates canvas.Candidates
	// Allowed, when not nil, lists the only ids that may be drawn. It works
	// before the filter, so that at least one allowed token stays.
	Allowed []int32
	Draw    canvas.Address
	Score   []int32
	Top     int
}

// Ask turns the sampling of an Encode's row into a Question.
func Ask(s canvas.Sampling) Question {
	q := Question{
		Adjust:      s.Adjust,
		Temperature: s.Temperature,
		Candidates:  canvas.Candidates{Temperature: 1, Filter: s.Filter},
		Allowed:     s.Allowed,
		Draw:        s.Draw,
		Score:       s.Score,
		Top:         s.Top,
	}
	if s.Temperature == 0 {
		q.Temperature, q.Candidates.Temperature = 1, 0
	}
	return q
}

// Processed returns the processed logits of a row: adjusted, then divided by
// the temperature, each operation rounded to float32. An id without a token is
// minus infinity.
func Processed(logits []float32, tokens canvas.Noise, adjust canvas.Adjustment, temperature float32) []float32 {
	out := masked(logits, tokens)
	for _, f := range adjust.Repetition {
		if out[f.ID] > 0 {
			out[f.ID] /= f.Value
		} else {
			out[f.ID] = float32(out[f.ID] * f.Value)
		}
	}
	for _, b := range adjust.Bias {
		out[b.ID] += b.Value
	}
	for i := range out {
		out[i] /= temperature
	}
	return out
}

// Stats answers a question about a row of soft-capped logits, in float64 from
// the processed logits on. tokens lists the ids that have a token; the others
// take part in nothing.
func Stats(logits []float32, tokens canvas.Noise, q Question) canvas.Stats {
	for _, l := range logits {
		if math.IsNaN(float64(l)) || math.IsInf(float64(l), 0) {
			return canvas.Stats{NonFinite: true}
		}
	}
	processed := Processed(logits, tokens, q.Adjust, q.Temperature)
	s := canvas.Stats{
		Argmax:  int32(argmax(processed)),
		Entropy: float32(entropy(softmax(processed))),
	}
	s.Sample = draw(processed, q)

	if len(q.Score) == 0 && q.Top == 0 {
		return s
	}
	own := softmax(masked(logits, tokens))
	for _, id := range q.Score {
		s.Scores = append(s.Scores, float32(math.Log(own[id])))
	}
	for _, id := range descending(own)[:min(q.Top, tokens.Count)] {
		s.Top = append(s.Top, canvas.Scored{ID: int32(id), LogProb: float32(math.Log(own[id]))})
	}
	return s
}

// masked copies a row with minus infinity for the ids without a token.
func masked(logits []float32, tokens canvas.Noise) []float32 {
	out := make([]float32, len(logits))
	for i := range out {
		out[i] = float32(math.Inf(-1))
	}
	for k := range tokens.Count {
		id := tokens.At(k)
		out[id] = logits[id]
	}
	return out
}

// draw picks a token by inverse CDF in ascending id order.
func draw(processed []float32, q Question) int32 {
	row := slices.Clone(processed)
	if q.Allowed != nil {
		for id := range row {
			if !slices.Contains(q.Allowed, int32(id)) {
				row[id] = float32(math.Inf(-1))
			}
		}
	}
	if q.Candidates.Temperature == 0 {
		return int32(argmax(row))
	}
	for id := range row {
		row[id] /= q.Candidates.Temperature
	}
	p := filtered(softmax(row), q.Candidates.Filter)
	total := 0.0
	for _, x := range p {
		total += x
	}
	target := rng.Uniform(rng.Block(q.Draw.Key(), q.Draw.Counter())) * total
	sum, last := 0.0, 0
	for id, x := range p {
		if x == 0 {
			continue
		}
		sum, last = sum+x, id
		if sum > target {
			break
		}
	}
	return int32(last)
}

// filtered returns p with 0 for the tokens that the filter drops; the rest is
// not scaled up again.
func filtered(p []float64, f canvas.Filter) []float64 {
	if f.Empty() {
		return p
	}
	order := descending(p)
	if f.TopK > 0 && f.TopK < len(order) {
		least := p[order[f.TopK-1]]
		order = order[:sort.Search(len(order), func(i int) bool { return p[order[i]] < least })]
	}
	if f.TopP > 0 && f.TopP < 1 {
		total := 0.0
		for _, id := range order {
			total += p[id]
		}
		sum := 0.0
		for i, id := range order {
			sum += p[id]
			if sum/total >= float64(f.TopP) {
				order = order[:i+1]
				break
			}
		}
	}
	if f.MinP > 0 {
		least := float64(f.MinP) * p[order[0]]
		order = order[:sort.Search(len(order), func(i int) bool { return p[order[i]] < least })]
	}
	kept := make([]float64, len(p))
	for _, id := range order {
		kept[id] = p[id]
	}
	return kept
}

// descending returns the ids by descending probability, equal ones by
// ascending id.
func descending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	return order
}

// argmax returns the index of the largest value, of equal ones the lowest.
func argmax(row []float32) int {
	best := 0
	for i, x := range row {
		if x > row[best] {
			best = i
		}
	}
	return best
}

func softmax(row []float32) []float64 {
	highest := float64(row[argmax(row)])
	p := make([]float64, len(row))
	sum := 0.0
	for i, x := range row {
		p[i] = math.Exp(float64(x) - highest)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func entropy(p []float64) float64 {
	h := 0.0
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log(x)
		}
	}
	return h
}
