package gemma

import (
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// kvBytes is what one position costs in a layer's cache.
func (l layerConfig) kvBytes(round kernel.Rounding) int64 {
	size := int64(4)
	if round == kernel.BF16 {
		size = 2
	}
	return 2 * size * int64(l.kvHeads) * int64(l.headDim)
}

// kvBytesPerToken adds the layers of a kind up.
func (c *config) kvBytesPerToken(kind model.LayerKind, round kernel.Rounding) int64 {
	var n int64
	for _, l := range c.layers {
		if l.kind == kind {
			n += l.kvBytes(round)
		}
	}
	return n
}

// memoryPlan lists what a run needs besides the program itself.
func (c *config) memoryPlan(r model.MemoryRequest, weightBytes int64, round kernel.Rounding, threads int) model.MemoryPlan {
	length := r.Canvas
	if length == 0 {
		length = c.canvas
	}
	chunk := r.PrefillChunk
	if chunk == 0 || chunk > r.Context {
		chunk = r.Context
	}
	pages := func(positions int) int64 {
		return int64((positions+pagePositions-1)/pagePositions) * pagePositions
	}
	// Until an encode is over, what it will drop is still stored: the window, the
	// largest rollback and the new tokens, and at both ends a part of a page.
	sliding := min(r.Context, c.window-1+max(c.canvas, chunk)+max(length, chunk)+2*pagePositions)
	vocabulary := kernel.Vocabulary{Size: c.vocab}
	return model.MemoryPlan{Items: []model.MemoryItem{
		{Name: "weights (mapped)", Bytes: weightBytes},
		{Name: "KV cache, full layers", Bytes: pages(r.Context) * c.kvBytesPerToken(model.Full, round)},
		{Name: "KV cache, sliding layers", Bytes: pages(sliding) * c.kvBytesPerToken(model.Sliding, round)},
		{Name: "canvas logits", Bytes: vocabulary.Bytes(length, round)},
		{Name: "scratch", Bytes: c.scratchBytes(max(length, chunk), length, threads)},
	}}
}

// scratchBytes adds up what passes of rows rows allocate: the buffers of scratch,
// the panel sums and probabilities of the head, and each worker's memory.
func (c *config) scratchBytes(rows, length, threads int) int64 {
	var heads, kv, dim, group, rotated int
	seen := map[ropeKey]bool{}
	for _, l := range c.layers {
		heads = max(heads, l.heads*l.headDim)
		kv = max(kv, l.kvHeads*l.headDim)
		dim = max(dim, l.headDim)
		group = max(group, l.heads/l.kvHeads)
		if key := (ropeKey{l.kind, l.headDim}); !seen[key] {
			seen[key] = true
			rotated += l.headDim // cosine and sine of half as many pairs
		}
	}
	// x, normed, projected, dense, routed, mixed; q and attended; k and v; gate and
	// up; rotations; router scores.
	perRow := 6*c.hidden + 2*heads + 2*kv + 2*c.intermediate + rotated + c.experts
	// Of each chosen expert: weight, id, offset and place; gathered and output rows;
	// gate, up and their product.
	perRow += c.chosen * (2*c.hidden + 3*c.expert + 6)
	widest := max(heads, c.hidden, c.intermediate, c.expert)
	return 4*int64(rows)*int64(perRow) +
		int64(threads)*kernel.WorkerBytes(widest, dim, group, length, c.vocab) +
		kernel.HeadBytes(length, c.vocab) + kernel.SoftBytes(length)
}
