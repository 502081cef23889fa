package gemma

import (
	"context"
	"math"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// A pass is one run of the layers over consecutive positions. Encoding and
// denoising differ in nothing else than what it says.
type pass struct {
	// first is the absolute position of row 0.
	first, rows int
	// scalars is the encoder's or the decoder's copy of the layer scalars.
	scalars []float32
	// span says which positions row r sees in a layer of the given kind.
	span func(kind model.LayerKind, r int) kernel.Span
	// store takes the new keys and values [rows × KV heads × dim] of a layer.
	store func(layer int, k, v []float32)
	// blocks appends the keys and values of positions lo … hi-1 of a layer, those
	// just stored included.
	blocks func(dst []kernel.KVBlock, layer, lo, hi int) []kernel.KVBlock
	// need lists the rows whose output is wanted after the last layer, ascending;
	// nil wants all. The others stop at the last layer's keys and values.
	need []int
}

// forward computes passes. It holds the model's constants and scratch memory,
// nothing that outlives a pass.
type forward struct {
	config  *config
	weights *modelWeights
	team    *kernel.Team
	round   kernel.Rounding
	// embedScale is √hidden in the activation type, routerRoot hidden^(-1/2).
	embedScale, routerRoot float32
	// frequencies holds the rotary frequencies by kind of layer and head dimension:
	// the format does not promise one dimension for all layers of a kind.
	frequencies map[ropeKey][]float32
	// probe, when set, is shown what passes compute. Tests set it.
	probe *probe
	// clock, when set, times the parts of passes.
	clock *clock

	scratch scratch
}

type ropeKey struct {
	kind model.LayerKind
	dim  int
}

// A probe sees intermediate values. Slices are valid during the call only.
type probe struct {
	// hidden sees the residual stream: layer 0 is the input of the first layer,
	// i+1 the output of layer i.
	hidden func(layer int, x []float32, rows int)
	// router sees the chosen experts [rows × chosen] and their weights.
	router func(layer int, ids []int32, weights []float32, rows int)
	// final sees the output of the final norm.
	final func(x []float32, rows int)
	// vectorTail makes attention treat the last keys of a pass as the official
	// kernel does (kernel.Attention.VectorTail). It lasts beyond the pass.
	vectorTail bool
}

// scratch is memory that passes reuse, grown to the largest pass.
type scratch struct {
	x, normed, q, k, v, attended, projected []float32
	gate, up, dense                         []float32
	routed, scores, chosenWeights           []float32
	gathered, gateUp, expertAct, expertOut  []float32
	experts                                 []float32
	ids                                     []int32
	offsets, order, place                   []int
	positions                               []int
	spans                                   []kernel.Span
	blocks                                  []kernel.KVBlock
	rotations                               map[ropeKey]*kernel.Rotation
}

func newForward(c *config, w *modelWeights, team *kernel.Team, round kernel.Rounding) *forward {
	f := &forward{
		config: c, weights: w, team: team, round: round,
		embedScale:  float32(math.Sqrt(float64(c.hidden))),
		routerRoot:  float32(1 / math.Sqrt(float64(c.hidden))),
		frequencies: map[ropeKey][]float32{},
	}
	if round == kernel.BF16 {
		f.embedScale = dtype.RoundBF16(f.embedScale)
	}
	f.scratch.rotations = map[ropeKey]*kernel.Rotation{}
	for _, l := range c.layers {
		r := c.sliding
		if l.kind == model.Full {
			r = c.full
		}
		key := ropeKey{l.kind, l.headDim}
		f.frequencies[key] = kernel.Frequencies(l.headDim, r.theta, r.partial, r.factor)
		f.scratch.rotations[key] = &kernel.Rotation{}
	}
	return f
}

// floats returns n values of reused memory.
func floats(buf *[]float32, n int) []float32 {
	if cap(*buf) < n {
		*buf = make([]float32, n)
	}
	*buf = (*buf)[:n]
	return *buf
}

// ints is floats for indexes.
func ints(buf *[]int, n int) []int {
	if cap(*buf) < n {
		*buf = make([]int, n)
	}
	*buf = (*buf)[:n]
	return *buf
}

// run takes x [rows × hidden] through all layers in place and returns the rows
// that the pass needs, [needed × hidden], before the final norm. Between two
// layers it looks at the context, and it stops where a hidden state is no longer
// finite.
func (f *forward) run(ctx context.Context, p *pass, x []float32) ([]float32, *model.NonFinite, error) {
	if bad := f.nonFinite(p, nil, x, -1); bad != nil {
		return nil, bad, nil
	}
	f.show(0, x, p.rows)
	f.setRotations(p, nil)
	for i := range f.weights.layers {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		need := p.need
		if i < len(f.weights.layers)-1 {
			need = nil
		}
		x = f.layer(p, i, x, need)
		if bad := f.nonFinite(p, need, x, i); bad != nil {
			return nil, bad, nil
		}
		f.show(i+1, x, len(x)/f.config.hidden)
	}
	return x, nil, nil
}

// keepRows moves the needed rows to the front.
func (f *forward) keepRows(x []float32, need []int) []float32 {
	n := f.config.hidden
	for i, r := range need {
		copy(x[i*n:(i+1)*n], x[r*n:(r+1)*n])
	}
	return x[:len(need)*n]
}

// nonFinite looks for the first row with NaN or infinity.
func (f *forward) nonFinite(p *pass, need []int, x []float32, layer int) *model.NonFinite {
	r := f.team.FirstNonFinite(x, len(x)/f.config.hidden)
	if r < 0 {
		return nil
	}
	if need != nil {
		r = need[r]
	}
	return &model.NonFinite{Layer: layer, Position: p.first + r}
}

func (f *forward) show(layer int, x []float32, rows int) {
	if f.probe != nil && f.probe.hidden != nil {
		f.probe.hidden(layer, x, rows)
	}
}

// setRotations prepares the rotary tables for all rows of a pass, or for the
// needed ones.
func (f *forward) setRotations(p *pass, need []int) {
	n := p.rows
	if need != nil {
		n = len(need)
	}
	positions := ints(&f.scratch.positions, n)
	for r := range positions {
		positions[r] = p.first + r
		if need != nil {
			positions[r] = p.first + need[r]
		}
	}
	for key, rot := range f.scratch.rotations {
		rot.Set(f.team, f.frequencies[key], positions, f.round)
	}
}
