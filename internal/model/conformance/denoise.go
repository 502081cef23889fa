package conformance

import (
	"fmt"
	"math"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
)

// prefilled returns a sequence with a prompt committed.
func (h *harness) prefilled(t *testing.T, seed int) model.Sequence {
	t.Helper()
	s := h.sequence(t)
	h.encode(t, s, h.tokens(seed, h.prompt), 0)
	return s
}

func checkDenoiseReads(t *testing.T, h *harness) {
	s := h.prefilled(t, 1)
	before := h.state(t, s)
	c := h.canvas(t, s, h.full)
	want := h.denoise(t, s, c, 3)
	if s.Len() != h.prompt {
		t.Errorf("denoising changed the length from %d to %d", h.prompt, s.Len())
	}
	equalAll(t, "sequence after denoising", h.state(t, s), before)
	if err := c.Reset(h.full); err != nil {
		t.Fatal(err)
	}
	equalAll(t, "steps after a reset", h.denoise(t, s, c, 3), want)
	equalAll(t, "steps of another canvas", h.denoise(t, s, h.canvas(t, s, h.full), 3), want)

	// A canvas lives on when the sequence grows: its prefix is what is committed
	// when the step runs.
	h.encode(t, s, h.tokens(5, h.short), 0)
	grown := h.denoise(t, s, h.canvas(t, s, h.full), 2)
	if err := c.Reset(h.full); err != nil {
		t.Fatal(err)
	}
	equalAll(t, "a canvas made before a commit and one made after it", h.denoise(t, s, c, 2), grown)
}

func checkDenoiseLengths(t *testing.T, h *harness) {
	s := h.prefilled(t, 1)
	want := map[int][][]canvas.Stats{}
	for _, n := range []int{1, h.short, h.full} {
		want[n] = h.denoise(t, s, h.canvas(t, s, n), 2)
	}
	c := h.canvas(t, s, h.full)
	for _, n := range []int{h.full, 1, h.short, h.full} {
		if err := c.Reset(n); err != nil {
			t.Fatalf("reset to %d: %v", n, err)
		}
		if c.Len() != n {
			t.Fatalf("reset to %d gave length %d", n, c.Len())
		}
		equalAll(t, fmt.Sprintf("reset to %d and a new canvas", n), h.denoise(t, s, c, 2), want[n])
	}
	for _, n := range []int{0, -1} {
		if err := c.Reset(n); err == nil {
			t.Errorf("reset to %d: no error", n)
		}
		if bad, err := s.NewCanvas(n); err == nil {
			bad.Release()
			t.Errorf("new canvas of %d: no error", n)
		}
	}
}

func checkDenoiseQuestions(t *testing.T, h *harness) {
	s := h.prefilled(t, 1)
	c := h.canvas(t, s, h.full)
	ask := func(change func(*model.Denoise)) []canvas.Stats {
		t.Helper()
		if err := c.Reset(h.full); err != nil {
			t.Fatal(err)
		}
		d := h.denoiseItem(s, c, 0)
		change(d)
		return h.step(t, model.Item{Denoise: d})[0].Stats
	}
	plain := ask(func(*model.Denoise) {})
	for i, p := range plain {
		if p.Argmax < 0 || int(p.Argmax) >= h.Config().VocabSize || p.Sample < 0 || int(p.Sample) >= h.Config().VocabSize {
			t.Fatalf("position %d: argmax %d, token %d", i, p.Argmax, p.Sample)
		}
		if !(p.Entropy >= 0) || float64(p.Entropy) > math.Log(float64(h.Config().Noise.Count))+1e-3 {
			t.Fatalf("position %d: entropy %v", i, p.Entropy)
		}
	}
	other := ask(func(d *model.Denoise) { d.Draw.Seed++; d.Draw.Position = 7 })
	for i := range other {
		other[i].Sample = plain[i].Sample
	}
	equal(t, "another seed, all but the tokens drawn", other, plain)
	equal(t, "another position in the address", ask(func(d *model.Denoise) { d.Draw.Position = 7 }), plain)
	equal(t, "empty adjustments", ask(func(d *model.Denoise) { d.Adjust = make([]canvas.Adjustment, h.full) }), plain)

	for i, p := range ask(func(d *model.Denoise) { d.Candidates.Temperature = 0 }) {
		if p.Sample != plain[i].Argmax {
			t.Errorf("candidates at temperature 0: position %d has token %d, argmax %d", i, p.Sample, plain[i].Argmax)
		}
	}
	id := h.tokens(4, 1)[0]
	biased := ask(func(d *model.Denoise) {
		d.Adjust = make([]canvas.Adjustment, h.full)
		d.Adjust[h.full-1].Bias = []canvas.Bias{{ID: id, Value: 500}}
	})
	last := biased[h.full-1]
	if last.Argmax != id || last.Sample != id || last.Entropy > 1e-3 {
		t.Errorf("bias 500 on id %d: %+v", id, last)
	}
	equal(t, "positions without a bias", biased[:h.full-1], plain[:h.full-1])
}

func checkLogits(t *testing.T, h *harness) {
	s := h.prefilled(t, 1)
	vocabulary := h.Config().VocabSize
	c := h.canvas(t, s, h.short)
	stats := h.denoise(t, s, c, 1)[0]
	logits := make([]float32, h.short*vocabulary)
	if err := c.Logits(logits); err != nil {
		t.Fatalf("logits: %v", err)
	}
	for i, p := range stats {
		row := logits[i*vocabulary : (i+1)*vocabulary]
		for id, l := range row {
			if l > row[p.Argmax] {
				t.Fatalf("position %d: argmax %d has logit %v, id %d has %v", i, p.Argmax, row[p.Argmax], id, l)
			}
		}
	}
	injected := h.canvas(t, s, h.short)
	if err := injected.SetLogits(logits); err != nil {
		t.Fatalf("set logits: %v", err)
	}
	back := make([]float32, len(logits))
	if err := injected.Logits(back); err != nil {
		t.Fatalf("logits after set logits: %v", err)
	}
	for i := range logits {
		if math.Float32bits(logits[i]) != math.Float32bits(back[i]) {
			t.Fatalf("logit %d: %v was set, %v came back", i, logits[i], back[i])
		}
	}
	next := func(c model.Canvas) []canvas.Stats {
		return h.step(t, model.Item{Denoise: h.denoiseItem(s, c, 1)})[0].Stats
	}
	equal(t, "step after injected logits and after its own", next(injected), next(c))

	if err := c.Logits(make([]float32, 1)); err == nil && len(logits) != 1 {
		t.Error("logits into a slice of the wrong length: no error")
	}
	if err := c.SetLogits(make([]float32, len(logits)+1)); err == nil {
		t.Error("set logits of the wrong length: no error")
	}
}

func checkDenoisesTogether(t *testing.T, h *harness) {
	a, b := h.prefilled(t, 1), h.prefilled(t, 2)
	lengths := []int{h.full, h.short, h.full}
	sequences := []model.Sequence{a, b, b} // two canvases share a sequence
	make3 := func() []model.Canvas {
		var all []model.Canvas
		for i, s := range sequences {
			all = append(all, h.canvas(t, s, lengths[i]))
		}
		return all
	}
	alone, together := make3(), make3()
	for k := range 3 {
		var items []model.Item
		var want [][]canvas.Stats
		for i, s := range sequences {
			want = append(want, h.step(t, model.Item{Denoise: h.denoiseItem(s, alone[i], k)})[0].Stats)
			items = append(items, model.Item{Denoise: h.denoiseItem(s, together[i], k)})
		}
		for i, r := range h.step(t, items...) {
			equal(t, fmt.Sprintf("step %d of canvas %d together and alone", k, i), r.Stats, want[i])
		}
	}
}

func checkMixedStep(t *testing.T, h *harness) {
	encoded := h.tokens(6, h.short)
	wantEncode := h.encode(t, h.prefilled(t, 1), encoded, 0)
	read := h.prefilled(t, 2)
	wantDenoise := h.denoise(t, read, h.canvas(t, read, h.full), 1)[0]

	grown := h.prefilled(t, 1)
	results := h.step(t,
		model.Item{Denoise: h.denoiseItem(read, h.canvas(t, read, h.full), 0)},
		model.Item{Encode: h.encodeItem(grown, encoded)},
	)
	equal(t, "denoise beside an encode and alone", results[0].Stats, wantDenoise)
	equal(t, "encode beside a denoise and alone", results[1].Stats, wantEncode)
}

func checkBadDenoise(t *testing.T, h *harness) {
	s, other := h.prefilled(t, 1), h.prefilled(t, 2)
	c := h.canvas(t, s, h.short)
	bad := func(change func(*model.Denoise)) model.Item {
		d := h.denoiseItem(s, c, 0)
		change(d)
		return model.Item{Denoise: d}
	}
	vocabulary := int32(h.Config().VocabSize)
	tests := []struct {
		name string
		item model.Item
	}{
		{"no canvas", bad(func(d *model.Denoise) { d.Canvas = nil })},
		{"no sequence", bad(func(d *model.Denoise) { d.Sequence = nil })},
		{"canvas of another sequence", bad(func(d *model.Denoise) { d.Sequence = other })},
		{"too many ids", bad(func(d *model.Denoise) { d.IDs = append(d.IDs, 0) })},
		{"no ids", bad(func(d *model.Denoise) { d.IDs = nil })},
		{"negative id", bad(func(d *model.Denoise) { d.IDs[0] = -1 })},
		{"id beyond the vocabulary", bad(func(d *model.Denoise) { d.IDs[0] = vocabulary })},
		{"temperature 0", bad(func(d *model.Denoise) { d.Temperature = 0 })},
		{"temperature NaN", bad(func(d *model.Denoise) { d.Temperature = float32(math.NaN()) })},
		{"wrong number of adjustments", bad(func(d *model.Denoise) { d.Adjust = make([]canvas.Adjustment, h.short+1) })},
		{"negative top", bad(func(d *model.Denoise) { d.Top, d.Score = -1, []int32{0} })},
		{"score beyond the vocabulary", bad(func(d *model.Denoise) { d.Score = []int32{vocabulary} })},
		{"encode and denoise", model.Item{Encode: h.encodeItem(other, h.tokens(1, 1)), Denoise: h.denoiseItem(s, c, 0)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { refused(t, h, test.item) })
	}
	t.Run("one canvas twice", func(t *testing.T) {
		item := bad(func(*model.Denoise) {})
		refused(t, h, item, item)
	})
	t.Run("encode and denoise of one sequence", func(t *testing.T) {
		refused(t, h, model.Item{Encode: h.encodeItem(s, h.tokens(1, 1))}, bad(func(*model.Denoise) {}))
	})
	if s.Len() != h.prompt || other.Len() != h.prompt {
		t.Errorf("bad items changed the lengths from %d to %d and %d", h.prompt, s.Len(), other.Len())
	}
	want := h.denoise(t, s, h.canvas(t, s, h.short), 2)
	equalAll(t, "after bad items, on the same canvas", h.denoise(t, s, c, 2), want)
}
