package gemma

import (
	"context"
	"math"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/google/go-cmp/cmp"
)

// fullSize has the dimensions of the full-size model (docs/model.md §1), and no
// weights.
func fullSize() (*config, *modelWeights) {
	c := &config{vocab: 262144, hidden: 2816, intermediate: 2112, expert: 704, experts: 128, chosen: 8, window: 1024}
	matrix := func(rows, cols int) kernel.Matrix { return kernel.Matrix{Rows: rows, Cols: cols} }
	w := &modelWeights{embed: matrix(c.vocab, c.hidden)}
	w.head = w.embed
	w.self.gate, w.self.up, w.self.down = matrix(c.intermediate, c.hidden), matrix(c.intermediate, c.hidden), matrix(c.hidden, c.intermediate)
	for i := range 30 {
		l := layerConfig{kind: model.Sliding, heads: 16, kvHeads: 8, headDim: 256}
		if i%6 == 5 {
			l = layerConfig{kind: model.Full, heads: 16, kvHeads: 2, headDim: 512}
		}
		c.layers = append(c.layers, l)
		lw := layerWeights{
			q: matrix(l.heads*l.headDim, c.hidden), k: matrix(l.kvHeads*l.headDim, c.hidden), o: matrix(c.hidden, l.heads*l.headDim),
			gate: w.self.gate, up: w.self.up, down: w.self.down, router: matrix(c.experts, c.hidden),
			expertGateUp: matrix(c.experts*2*c.expert, c.hidden), expertDown: matrix(c.experts*c.hidden, c.expert),
		}
		if l.v() {
			lw.v = lw.k
		}
		w.layers = append(w.layers, lw)
	}
	return c, w
}

// TestFullSizeWork counts one denoising step of the full-size model: a canvas of 256
// after 1,024 tokens, 10⁹ operations.
func TestFullSizeWork(t *testing.T) {
	c, w := fullSize()
	const prefix, length = 1024, 256
	p := &pass{first: prefix, rows: length, span: func(kind model.LayerKind, _ int) kernel.Span {
		if kind == model.Full {
			return kernel.Span{Lo: 0, Hi: prefix + length}
		}
		return kernel.Span{Lo: c.seenFrom(prefix), Hi: prefix + length}
	}}
	got := (&work{config: c, weights: w, pass: p, heads: length, conditioned: true}).count(make([]int, len(c.layers)))
	for part, want := range map[model.Part]float64{
		model.PartProjections:      25*2*256*2816*(16+8+8+16)*256/1e9 + 5*2*256*2816*(16+2+16)*512/1e9,
		model.PartAttention:        188, // 25 layers of 1,279 positions, 5 of 1,280
		model.PartDense:            274,
		model.PartExperts:          731 + 5.5, // and the router
		model.PartHead:             378,
		model.PartSelfConditioning: 378 + 9.1, // soft embedding and its network
		model.PartStatistics:       0,
		model.PartOther:            0,
	} {
		if g := got[part].Operations / 1e9; math.Abs(g-want) > 0.005*want {
			t.Errorf("%v: %.1f·10⁹ operations, want %.1f", part, g, want)
		}
	}
	if g := (got[model.PartProjections].Operations + got[model.PartDense].Operations) / 1e9; math.Abs(g-845) > 4 {
		t.Errorf("linear layers outside of the experts: %.1f·10⁹ operations, want 845", g)
	}
	for _, untouched := range []model.Part{model.PartExperts, model.PartAttention} {
		if got[untouched].WeightBytes != 0 {
			t.Errorf("%v reads weights", untouched)
		}
	}
}

// TestProfile: a profile changes no result, names all that a pass does, and ends
// when it is told to.
func TestProfile(t *testing.T) {
	b := openSmall(t, model.LoadOptions{})
	pass := func() (result [3]model.Result) {
		t.Helper()
		s := b.NewSequence()
		defer s.Release()
		row := model.Row{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: 1}}
		items := []model.Item{{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: someIDs(b, 9, 0)}}, Rows: []model.Row{row}}}}
		k, err := s.NewCanvas(b.config.canvas)
		if err != nil {
			t.Fatal(err)
		}
		denoise := model.Item{Denoise: &model.Denoise{Canvas: k, Sequence: s, IDs: someIDs(b, b.config.canvas, 3), Temperature: 0.8}}
		for i, item := range []model.Item{items[0], denoise, denoise} {
			r, err := b.Step(context.Background(), []model.Item{item})
			if err != nil {
				t.Fatal(err)
			}
			result[i] = r[0]
		}
		return result
	}
	want := pass()
	var p model.Profile
	b.SetProfile(&p)
	if diff := cmp.Diff(want, pass()); diff != "" {
		t.Errorf("with a profile (-without +with):\n%s", diff)
	}
	for _, part := range model.Parts() {
		if p[part].Time < 0 {
			t.Errorf("%v takes %v", part, p[part].Time)
		}
		work := part != model.PartStatistics && part != model.PartOther
		if (p[part].Operations > 0) != work {
			t.Errorf("%v: %v operations", part, p[part].Operations)
		}
		if (p[part].WeightBytes > 0) != (work && part != model.PartAttention) {
			t.Errorf("%v: %d bytes of weights", part, p[part].WeightBytes)
		}
	}
	if p.Total().Time == 0 {
		t.Error("nothing was timed")
	}
	b.SetProfile(nil)
	before := p
	pass()
	if p != before {
		t.Error("the profile goes on after its end")
	}
}

// One token reads as many experts a layer as it chooses, and asking a committed row
// again reads the head alone.
func TestOneTokenWork(t *testing.T) {
	b := openSmall(t, model.LoadOptions{})
	s := b.NewSequence()
	defer s.Release()
	prefill(t, b, s, someIDs(b, 5, 0))
	var p model.Profile
	b.SetProfile(&p)
	row := []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{Temperature: 1}}}
	step(t, b, model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: someIDs(b, 1, 5)}}, Rows: row}})
	want := int64(0)
	for i := range b.weights.layers {
		l := &b.weights.layers[i]
		want += l.router.Bytes() + (l.expertGateUp.Bytes()+l.expertDown.Bytes())/int64(b.config.experts)*int64(b.config.chosen)
	}
	if got := p[model.PartExperts].WeightBytes; got != want {
		t.Errorf("experts read %d bytes, want %d", got, want)
	}
	head := p[model.PartHead].Operations
	p = model.Profile{}
	step(t, b, model.Item{Encode: &model.Encode{Sequence: s, Rows: row}})
	if total := p.Total(); total.Operations != head || total.WeightBytes != b.weights.head.Bytes() {
		t.Errorf("asking again: %+v", total)
	}
}
