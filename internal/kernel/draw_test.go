package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
)

// The draws of the micro trace, model.md §5.5, with the uniforms listed there.
func TestDrawMicroTrace(t *testing.T) {
	for _, c := range []struct {
		z    []float32
		temp float32
		u    float64
		want int32
	}{
		{[]float32{9, 1, 0, 0, 0}, 0.8, .3, 0},
		{[]float32{4, 3.5, 0, 0, 0}, 0.8, .85, 1},
		{[]float32{0, 0, 8, 0, 1}, 0.8, .5, 2},
		{[]float32{1, 1, 1, 1, 1}, 0.8, .95, 4},
		{[]float32{9.5, 1, 0, 0, 0}, 2. / 3, .99, 0},
		{[]float32{6.5, 2, 0, 0, 0}, 2. / 3, .40, 0},
		{[]float32{0, 0, 9, 0, 1}, 2. / 3, .2, 2},
		{[]float32{0, 0, 0, 7, 1}, 2. / 3, .6, 3},
	} {
		vocab := Vocabulary{Size: 5}
		panels := make([]panelSums, 1)
		z := slices.Clone(c.z)
		vocabPanelGeneric(&vocabRow{&vocab, &processing{temperature: c.temp}, panels}, 0, z)
		choice := choosePanel(panels, panels[0].top, c.u*panels[0].sum)
		if got := choice.id(z); got != c.want {
			t.Errorf("logits %v, u %v: id %d, want %d", c.z, c.u, got, c.want)
		}
	}
}

// Where the target falls decides the panel; panels without weight are passed
// over, and rounding at the end takes the last with weight.
func TestChoosePanel(t *testing.T) {
	panels := []panelSums{
		{top: negInf},
		{top: 2, sum: 1.5},
		{top: 2, sum: 0.5},
		{top: negInf},
		{top: 2, sum: 2},
		{top: negInf},
	}
	for _, c := range []struct {
		target float64
		panel  int
		before float64
	}{
		{0, 1, 0}, {1.4, 1, 0}, {1.5, 2, 1.5}, {1.9, 2, 1.5}, {2, 4, 2}, {3.99, 4, 2}, {4, 4, 2}, {5, 4, 2},
	} {
		got := choosePanel(panels, 2, c.target)
		if got.panel != c.panel || got.before != c.before || got.scale != 1 {
			t.Errorf("target %v: panel %d after %v, want %d after %v", c.target, got.panel, got.before, c.panel, c.before)
		}
	}
	// A panel's sum is relative to its own top.
	panels[1].top, panels[1].sum = 0, math.Exp(2)
	if got := choosePanel(panels, 2, 1.2); got.panel != 2 || math.Abs(got.before-1) > 1e-15 {
		t.Errorf("scaled: %+v", got)
	}
}

func TestPanelID(t *testing.T) {
	z := []float32{negInf, 0, negInf, 0, 0, negInf}
	c := panelChoice{panel: 2, top: 0, scale: 0.5, before: 1}
	for _, k := range []struct {
		target float64
		want   int32
	}{
		{1, 513}, {1.49, 513}, {1.5, 515}, {1.99, 515}, {2, 516}, {2.4, 516}, {2.5, 516}, {9, 516},
	} {
		c.target = k.target
		if got := c.id(z); got != k.want {
			t.Errorf("target %v: id %d, want %d", k.target, got, k.want)
		}
	}
}

func TestFilter(t *testing.T) {
	// Probabilities 0.4, 0.1, 0.2, 0.2, 0.1 and nothing.
	logits := []float32{4, 1, 2, 2, 1, 0}
	for i, p := range logits {
		logits[i] = float32(math.Log(float64(p) / 10))
	}
	for _, c := range []struct {
		f    canvas.Filter
		want []int
	}{
		{canvas.Filter{}, []int{0, 1, 2, 3, 4, 5}},
		{canvas.Filter{TopP: 1}, []int{0, 1, 2, 3, 4, 5}},
		{canvas.Filter{TopK: 1}, []int{0}},
		{canvas.Filter{TopK: 2}, []int{0, 2, 3}}, // tied with the second
		{canvas.Filter{TopK: 3}, []int{0, 2, 3}},
		{canvas.Filter{TopK: 4}, []int{0, 1, 2, 3, 4}},
		{canvas.Filter{TopK: 6}, []int{0, 1, 2, 3, 4, 5}},
		{canvas.Filter{TopP: 0.01}, []int{0}},
		{canvas.Filter{TopP: 0.39}, []int{0}},
		{canvas.Filter{TopP: 0.55}, []int{0, 2}}, // of equal ones the lowest ids
		{canvas.Filter{TopP: 0.7}, []int{0, 2, 3}},
		{canvas.Filter{TopP: 0.85}, []int{0, 1, 2, 3}},
		{canvas.Filter{TopP: 0.95}, []int{0, 1, 2, 3, 4}},
		{canvas.Filter{MinP: 1}, []int{0}},
		{canvas.Filter{MinP: 0.49}, []int{0, 2, 3}},
		{canvas.Filter{MinP: 0.51}, []int{0}},
		{canvas.Filter{MinP: 0.24}, []int{0, 1, 2, 3, 4}},
		{canvas.Filter{TopK: 3, TopP: 0.49}, []int{0}}, // 0.4 of the 0.8 that are left
		{canvas.Filter{TopK: 3, TopP: 0.51}, []int{0, 2}},
	} {
		z := slices.Clone(logits)
		filter(z, c.f)
		var got []int
		for id, v := range z {
			switch {
			case v == logits[id] && (v != negInf || c.f.Empty() || c.f.TopK >= len(z)):
				got = append(got, id)
			case v != negInf:
				t.Errorf("%+v changes logit %d to %v", c.f, id, v)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v keeps %v, want %v", c.f, got, c.want)
		}
	}
}

func TestKeep(t *testing.T) {
	z := []float32{1, 2, 3, 4, 5}
	keep(z, []int32{1, 4})
	sameBits(t, "keep", z, []float32{negInf, 2, negInf, negInf, 5})
	keep(z, []int32{})
	sameBits(t, "keep nothing", z, slices.Repeat([]float32{negInf}, 5))
}

// drawMany draws from one distribution at as many addresses and counts the ids.
func drawMany(t *testing.T, z []float32, base HeadRow, draws int) []int {
	t.Helper()
	const rows = 250
	team := newTeam(t, 2)
	vocab := Vocabulary{Size: len(z)}
	table := newMatrix(t, dtype.F32, len(z), 1, z)
	l, stats := NewLogits(vocab, rows, F32), make([]canvas.Stats, rows)
	x, want := slices.Repeat([]float32{1}, rows), slices.Repeat([]HeadRow{base}, rows)
	counts := make([]int, len(z))
	var scratch HeadScratch
	for step := range draws / rows {
		for r := range want {
			want[r].Draw = canvas.Address{Seed: 17, Position: uint32(r), Step: uint16(step), Purpose: canvas.PurposeCandidate}
		}
		team.Head(l, stats, x, table, want, &scratch)
		for r := range stats {
			counts[stats[r].Sample]++
		}
	}
	return counts
}

// chiSquare measures counts against probabilities, with rare ids in one bin, and
// returns how many standard deviations the statistic lies above its mean.
func chiSquare(counts []int, p []float64) float64 {
	draws := 0
	for _, n := range counts {
		draws += n
	}
	var sum, rareWant, rareGot float64
	bins := 0
	add := func(got, want float64) {
		sum += (got - want) * (got - want) / want
		bins++
	}
	for id, n := range counts {
		if want := p[id] * float64(draws); want >= 5 {
			add(float64(n), want)
		} else {
			rareWant, rareGot = rareWant+want, rareGot+float64(n)
		}
	}
	if rareWant > 0 {
		add(rareGot, rareWant)
	}
	freedom := float64(bins - 1)
	return (sum - freedom) / math.Sqrt(2*freedom)
}

func softmax64(z []float32, temperature float64) []float64 {
	p, sum := make([]float64, len(z)), 0.0
	for i, v := range z {
		p[i] = math.Exp(float64(v) / temperature)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Twenty thousand draws at as many addresses follow the probabilities, and the
// same measure tells them from a distribution that is slightly wrong.
func TestDrawDistribution(t *testing.T) {
	const size, draws = 600, 20_000
	r := newRandom(9)
	z := uniforms(r, size, 1)
	for _, id := range []int{0, 3, 255, 256, 300, 511, 512, 598, 599} {
		z[id] += 5
	}
	plain := plainRow(0.8, canvas.Address{})
	own := HeadRow{Temperature: 0.8, Candidates: canvas.Candidates{Temperature: 1.25}}
	for _, c := range []struct {
		name        string
		row         HeadRow
		temperature float64
	}{{"plain", plain, 0.8}, {"candidates' own temperature", own, 1}} {
		counts := drawMany(t, z, c.row, draws)
		if d := chiSquare(counts, softmax64(z, c.temperature)); d > 4 {
			t.Errorf("%s: %.1f standard deviations from the distribution", c.name, d)
		}
		for _, wrong := range []float64{c.temperature * 0.95, c.temperature * 1.05} {
			if d := chiSquare(counts, softmax64(z, wrong)); d < 4 {
				t.Errorf("%s: temperature %v passes for %v (%.1f)", c.name, wrong, c.temperature, d)
			}
		}
	}
}

// Samplers with typical slips do not pass the same measure.
func TestDrawDistributionFindsWrongSamplers(t *testing.T) {
	const size, draws = 600, 20_000
	z := uniforms(newRandom(9), size, 1)
	for _, id := range []int{3, 300, 599} {
		z[id] += 4
	}
	p := softmax64(z, 1)
	var panels []panelSums
	for first := 0; first < size; first += VocabPanel {
		part := z[first:min(size, first+VocabPanel)]
		s := panelSums{top: slices.Max(part)}
		for _, v := range part {
			s.sum += float64(exp32(v - s.top))
		}
		panels = append(panels, s)
	}
	var top float32 = negInf
	for _, s := range panels {
		top = max(top, s.top)
	}
	sample := func(u float64, mutate func(c *panelChoice), unscaled bool) int32 {
		tops, sum := slices.Clone(panels), 0.0
		for i := range tops {
			if unscaled {
				tops[i].top = top
			}
			sum += tops[i].sum * exp64(float64(tops[i].top)-float64(top))
		}
		c := choosePanel(tops, top, u*sum)
		mutate(&c)
		first := c.panel * VocabPanel
		return c.id(z[first:min(size, first+VocabPanel)])
	}
	for _, m := range []struct {
		name     string
		unscaled bool
		mutate   func(c *panelChoice)
		good     bool
	}{
		{"right", false, func(*panelChoice) {}, true},
		{"panels unscaled", true, func(*panelChoice) {}, false},
		{"sum before the panel forgotten", false, func(c *panelChoice) { c.before = 0 }, false},
		{"ids unscaled", false, func(c *panelChoice) { c.scale = 1 }, false},
		{"one id too far", false, func(c *panelChoice) { c.target += 0.5 * c.scale }, false},
	} {
		counts := make([]int, size)
		for i := range draws {
			u := uniform(canvas.Address{Seed: 18, Position: uint32(i)})
			counts[sample(u, m.mutate, m.unscaled)]++
		}
		if d := chiSquare(counts, p); d < 4 != m.good {
			t.Errorf("%s: %.1f standard deviations", m.name, d)
		}
	}
}

// The same address draws the same token, and every field of it matters.
func TestDrawIsAFunctionOfItsAddress(t *testing.T) {
	z := make([]float32, 1000)
	base := canvas.Address{Seed: 1, Position: 2, Canvas: 3, Step: 4, Attempt: 5, Purpose: 1, Choice: 6}
	addresses := []canvas.Address{base, base}
	for _, change := range []func(a *canvas.Address){
		func(a *canvas.Address) { a.Seed++ },
		func(a *canvas.Address) { a.Position++ },
		func(a *canvas.Address) { a.Canvas++ },
		func(a *canvas.Address) { a.Step++ },
		func(a *canvas.Address) { a.Attempt++ },
		func(a *canvas.Address) { a.Purpose++ },
		func(a *canvas.Address) { a.Choice++ },
		func(a *canvas.Address) { a.Sub++ },
	} {
		a := base
		change(&a)
		addresses = append(addresses, a)
	}
	var want []HeadRow
	for _, a := range addresses {
		want = append(want, plainRow(1, a))
	}
	_, stats := head(t, newTeam(t, 2), Vocabulary{Size: len(z)}, slices.Concat(slices.Repeat(z, len(want))), F32, want)
	for i, s := range stats[1:] {
		if same := s.Sample == stats[0].Sample; same != (i == 0) {
			t.Errorf("%s draws %d, the first one %d", fmt.Sprintf("%+v", addresses[i+1]), s.Sample, stats[0].Sample)
		}
	}
}
