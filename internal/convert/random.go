package convert

import (
	"hash/fnv"
	"math"
	"strings"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/rng"
)

// Random weights are made so that a pass through them stays in scale and its
// logits are as undecided as those of a real model: a mean entropy of 1 to 3 nats.
//
//   - A projection has a standard deviation of 1/√in, so that rows of unit size
//     stay so.
//   - The norms behind a layer's branches have weights around afterBranch: what the
//     layers add outweighs the embedding, and the tied head does not just give back
//     the token that went in.
//   - The norms of queries and keys have weights around d^(-1/4), so that scores
//     have a standard deviation of 1.
//   - Of the table's rows, frequentRows are frequent tokens: their logits have a
//     standard deviation of the last norm, logitScale; those of the others have an
//     eighth of it. Gaussian logits of one size over 262,144 ids cannot be decided
//     below the soft-cap of 30.
const (
	afterBranch  = 4
	logitScale   = 6
	frequentRows = 512
	rareScale    = 1.0 / 8
	jitter       = 0.05 // of what is around a constant
)

// A random is the distribution of one tensor: Gaussian around a mean.
type random struct {
	mean, deviation float32
	// row and stride make rows other than every stride-th smaller by rareScale; a
	// stride of 0 leaves all alike.
	row, stride int
	key         [2]uint32
	tensor      [2]uint32
}

// randomOf says how a tensor of a shape is drawn. The draws depend on the seed, the
// official name and the index of the element alone.
func (s shape) randomOf(t model.ExportTensor, seed uint64) random {
	h := fnv.New64a()
	h.Write([]byte(t.Official)) // never an error
	name := h.Sum64()
	r := random{
		key:    [2]uint32{uint32(seed), uint32(seed >> 32)},
		tensor: [2]uint32{uint32(name), uint32(name >> 32)},
	}
	dims := t.Tensor.Shape
	in := dims[len(dims)-1]
	around := func(mean float64) { r.mean, r.deviation = float32(mean), float32(jitter*mean) }
	switch {
	case t.Kind == model.Table:
		r.deviation = float32(1 / math.Sqrt(float64(in)))
		r.row, r.stride = in, max(1, s.vocab/frequentRows)
	case t.Kind == model.Router && len(dims) > 1:
		r.deviation = 1 // its input is divided by √in already
	case len(dims) > 1:
		r.deviation = float32(1 / math.Sqrt(float64(in)))
	case strings.HasSuffix(t.Official, ".q_norm.weight"), strings.HasSuffix(t.Official, ".k_norm.weight"):
		around(math.Pow(float64(in), -0.25))
	case strings.Contains(t.Official, ".post_attention_layernorm."), strings.HasSuffix(t.Official, ".post_feedforward_layernorm.weight"):
		around(afterBranch)
	case t.Kind == model.Norm && !strings.Contains(t.Official, ".layers."):
		r.mean = logitScale
	default:
		around(1)
	}
	return r
}

// fill sets dst to the elements from at on, a multiple of 4. A Gaussian is the sum
// of the four bytes of a random word, which is near enough, and fast.
func (r random) fill(dst []float32, at int) error {
	const mean = 4 * 127.5
	scale := r.deviation / float32(math.Sqrt(4*(256*256-1)/12.0))
	for i := 0; i < len(dst); i += 4 {
		index := uint64(at+i) / 4
		words := rng.Block(r.key, [4]uint32{uint32(index), uint32(index >> 32), r.tensor[0], r.tensor[1]})
		for j, w := range words[:min(4, len(dst)-i)] {
			sum := w&0xff + w>>8&0xff + w>>16&0xff + w>>24
			dst[i+j] = r.mean + float32(scale*(float32(sum)-mean))
		}
	}
	if r.stride > 1 {
		r.shrinkRare(dst, at)
	}
	return nil
}

func (r random) shrinkRare(dst []float32, at int) {
	for len(dst) > 0 {
		row := at / r.row
		n := min(len(dst), (row+1)*r.row-at)
		if row%r.stride != 0 {
			for i := range dst[:n] {
				dst[i] *= rareScale
			}
		}
		dst, at = dst[n:], at+n
	}
}
