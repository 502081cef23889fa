package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

// attentionCase is one attention call with keys and values as plain arrays of
// positions base … base+keys-1.
type attentionCase struct {
	name                string
	heads, kvHeads, dim int
	base, keys          int
	spans               []Span
}

// causal gives the spans of the last rows of a prefix of end positions, each
// seeing at most window keys.
func causal(end, rows, window int) []Span {
	spans := make([]Span, rows)
	for i := range spans {
		hi := end - rows + i + 1
		spans[i] = Span{max(0, hi-window), hi}
	}
	return spans
}

const unbounded = 1 << 30

var attentionCases = []attentionCase{
	{"one key only", 2, 1, 8, 0, 1, []Span{{0, 1}}},
	{"causal from the start", 4, 4, 8, 0, 20, causal(20, 20, unbounded)},
	{"causal after a prefix, group 2", 4, 2, 16, 0, 600, causal(600, 11, unbounded)},
	{"rectangle, group 4", 4, 1, 12, 0, 700, slices.Repeat([]Span{{0, 700}}, 9)},
	{"rectangle of a window that starts inside a block", 2, 2, 8, 477, 1279, slices.Repeat([]Span{{477, 1756}}, 10)},
	{"causal window that starts inside blocks", 2, 1, 8, 900, 300, causal(1200, 33, 200)},
	{"causal rows across a block border", 4, 2, 8, 0, 520, causal(520, 17, unbounded)},
	{"window across a block border", 2, 2, 5, 500, 40, causal(540, 24, 9)},
	{"exactly one block", 2, 1, 8, 512, 512, []Span{{512, 1024}}},
	{"one key in each of two blocks", 2, 1, 8, 511, 2, []Span{{511, 513}, {511, 512}, {512, 513}}},
	{"rows that see nothing in common", 3, 3, 7, 0, 1100, []Span{{1090, 1100}, {0, 1}, {511, 513}, {100, 600}}},
}

// attentionInput holds the values of a case as the arithmetic stores them.
type attentionInput struct {
	attentionCase
	round   Rounding
	q, k, v []float32
}

func newAttention(c attentionCase, round Rounding) attentionInput {
	r := newRandom(uint64(c.keys))
	return attentionInput{
		attentionCase: c, round: round,
		q: roundedTo(round, uniforms(r, len(c.spans)*c.heads*c.dim, 2)),
		k: roundedTo(round, uniforms(r, c.keys*c.kvHeads*c.dim, 2)),
		v: roundedTo(round, uniforms(r, c.keys*c.kvHeads*c.dim, 1)),
	}
}

// blocks cuts positions from … to-1 into pages of size positions, the first
// page ending at a multiple of it.
func (in *attentionInput) blocks(from, to, size int) []KVBlock {
	width := in.kvHeads * in.dim
	var list []KVBlock
	for from < to {
		end := min(to, (from/size+1)*size)
		k, v := in.k[(from-in.base)*width:(end-in.base)*width], in.v[(from-in.base)*width:(end-in.base)*width]
		b := KVBlock{First: from, Count: end - from}
		if in.round == BF16 {
			b.K16, b.V16 = make([]uint16, len(k)), make([]uint16, len(v))
			dtype.EncodeBF16(b.K16, k)
			dtype.EncodeBF16(b.V16, v)
		} else {
			b.K32, b.V32 = k, v
		}
		list = append(list, b)
		from = end
	}
	return list
}

// attend runs rows first … last-1 of the case.
func (in *attentionInput) attend(team *Team, blocks []KVBlock, first, last int) []float32 {
	stride := in.heads * in.dim
	out := make([]float32, (last-first)*stride)
	for i := range out {
		out[i] = nan32 // what was there must not matter
	}
	team.Attend(&Attention{
		Q: in.q[first*stride : last*stride], Out: out,
		Heads: in.heads, KVHeads: in.kvHeads, Dim: in.dim,
		Spans: in.spans[first:last], Blocks: blocks, Round: in.round,
	})
	return out
}

func (in *attentionInput) whole(team *Team) []float32 {
	return in.attend(team, in.blocks(in.base, in.base+in.keys, unbounded), 0, len(in.spans))
}

// naive is attention in float64 by its definition.
func (in *attentionInput) naive() []float64 {
	var out []float64
	for r, span := range in.spans {
		for h := range in.heads {
			q := in.q[(r*in.heads+h)*in.dim:][:in.dim]
			at := func(position int) int {
				return ((position-in.base)*in.kvHeads + h/(in.heads/in.kvHeads)) * in.dim
			}
			scores := make([]float64, 0, span.Hi-span.Lo)
			for p := span.Lo; p < span.Hi; p++ {
				var s float64
				for i, x := range q {
					s += float64(x) * float64(in.k[at(p)+i])
				}
				scores = append(scores, s)
			}
			top, sum := slices.Max(scores), 0.0
			row := make([]float64, in.dim)
			for i, s := range scores {
				w := math.Exp(s - top)
				sum += w
				for j := range row {
					row[j] += w * float64(in.v[at(span.Lo+i)+j])
				}
			}
			for _, x := range row {
				out = append(out, x/sum)
			}
		}
	}
	return out
}

// eachAttention runs f for every case, class and arithmetic.
func eachAttention(t *testing.T, f func(t *testing.T, kernels *Kernels, in attentionInput)) {
	t.Helper()
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		for _, c := range attentionCases {
			for _, round := range []Rounding{F32, BF16} {
				t.Run(c.name+"/"+roundingName(round), func(t *testing.T) { f(t, kernels, newAttention(c, round)) })
			}
		}
	})
}

func TestAttendIsAttention(t *testing.T) {
	eachAttention(t, func(t *testing.T, kernels *Kernels, in attentionInput) {
		// In bf16: half a unit of the result, and as much of every weight.
		tolerance := 3e-6
		if in.round == BF16 {
			tolerance = 1.0/512 + 1.0/512
		}
		near(t, "attention", in.whole(teamOf(t, kernels, 1)), in.naive(), tolerance)
	})
}

// What a row computes depends neither on the pages of the cache, nor on what is
// cached beside its span, nor on the rows beside it, nor on the threads.
func TestAttendIsAFunctionOfTheRow(t *testing.T) {
	eachAttention(t, func(t *testing.T, kernels *Kernels, in attentionInput) {
		want := in.whole(teamOf(t, kernels, 1))
		end, rows, stride := in.base+in.keys, len(in.spans), in.heads*in.dim
		for _, threads := range threadCounts {
			team := teamOf(t, kernels, threads)
			for _, size := range []int{1, 7, 64, 100, 512, 513} {
				got := in.attend(team, in.blocks(in.base, end, size), 0, rows)
				sameBits(t, fmt.Sprintf("pages of %d, %d threads", size, threads), got, want)
			}
			for r, span := range in.spans {
				got := in.attend(team, in.blocks(span.Lo, span.Hi, 64), r, r+1)
				sameBits(t, fmt.Sprintf("row %d alone, %d threads", r, threads), got, want[r*stride:(r+1)*stride])
			}
			cut := rows / 2
			got := append(in.attend(team, in.blocks(in.base, end, 64), 0, cut),
				in.attend(team, in.blocks(in.base, end, 64), cut, rows)...)
			sameBits(t, "in two passes", got, want)
		}
	})
}

// A key or value that is not finite reaches the rows that see it, wherever it
// is, and no other.
func TestAttendKeepsUnseenKeysOut(t *testing.T) {
	eachAttention(t, func(t *testing.T, kernels *Kernels, in attentionInput) {
		team := teamOf(t, kernels, 2)
		want := in.whole(team)
		width, stride := in.kvHeads*in.dim, in.heads*in.dim
		for _, bad := range []int{in.base, in.base + in.keys/2, in.base + in.keys - 1} {
			for _, spoil := range []struct {
				name string
				x    []float32
			}{{"key", in.k}, {"value", in.v}} {
				row := spoil.x[(bad-in.base)*width:][:width]
				kept := slices.Clone(row)
				for i := range row {
					row[i] = nan32
				}
				got := in.whole(team)
				copy(row, kept)
				for r, span := range in.spans {
					g, w := got[r*stride:(r+1)*stride], want[r*stride:(r+1)*stride]
					if bad < span.Lo || bad >= span.Hi {
						sameBits(t, fmt.Sprintf("row %d does not see %s %d", r, spoil.name, bad), g, w)
						continue
					}
					for i, x := range g {
						if x == x {
							t.Fatalf("row %d sees NaN in %s %d, but value %d is %v", r, spoil.name, bad, i, x)
						}
					}
				}
			}
		}
	})
}

// In bf16 arithmetic the weights are rounded before they meet the values, the
// sum is of the unrounded ones, and the result is rounded. VectorTail makes the
// exponential of the last keys accurate.
func TestAttendRoundingPoints(t *testing.T) {
	c := attentionCase{"", 2, 1, 8, 0, 37, []Span{{0, 37}, {3, 30}}}
	for _, tail := range []int{0, 10, 37} {
		in := newAttention(c, BF16)
		got := make([]float32, len(in.q))
		newTeam(t, 1).Attend(&Attention{
			Q: in.q, Out: got, Heads: c.heads, KVHeads: c.kvHeads, Dim: c.dim,
			Spans: c.spans, Blocks: in.blocks(0, c.keys, unbounded), Round: BF16, VectorTail: tail,
		})
		for r, span := range c.spans {
			for h := range c.heads {
				q := in.q[(r*c.heads+h)*c.dim:][:c.dim]
				scores := make([]float32, c.keys)
				naiveProduct(scores, c.keys, q, c.dim, 1, in.k, c.keys, c.dim)
				scores = scores[span.Lo:span.Hi]
				top := slices.Max(scores)
				var sum float64
				want := make([]float64, c.dim)
				for i, s := range scores {
					e := fastExp32(s - top)
					if span.Lo+i >= c.keys-tail {
						e = exp32(s - top)
					}
					sum += float64(e)
					for j := range want {
						want[j] += float64(bf16(e)) * float64(in.v[(span.Lo+i)*c.dim+j])
					}
				}
				for j, x := range want {
					// Half a unit of the last place of a bfloat16, and a little for
					// the order of the sums.
					g := got[(r*c.heads+h)*c.dim+j]
					_, e := math.Frexp(x / sum)
					if d := math.Abs(float64(g) - x/sum); d > math.Ldexp(1.01, e-9)+1e-6 {
						t.Errorf("tail %d, row %d, head %d: value %d is %v, want %v", tail, r, h, j, g, x/sum)
					}
				}
			}
		}
	}
}

// Scores far apart neither overflow nor lose the largest.
func TestAttendExtremeScores(t *testing.T) {
	for _, round := range []Rounding{F32, BF16} {
		const keys = 530
		k, v := make([]float32, keys), make([]float32, keys)
		for i := range k {
			k[i], v[i] = float32(i-keys), float32(i)
		}
		in := attentionInput{
			attentionCase: attentionCase{"", 1, 1, 1, 0, keys, []Span{{0, keys}, {0, keys}}},
			round:         round, q: []float32{128, -128}, k: roundedTo(round, k), v: roundedTo(round, v),
		}
		// The last key wins the first row; the first key wins the second.
		tolerance := 1e-3
		if round == BF16 {
			tolerance = 2 // half a unit at 530
		}
		near(t, roundingName(round), in.whole(newTeam(t, 1)), in.naive(), tolerance)
	}
}
