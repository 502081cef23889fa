package gemma

import (
	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/kernel"
)

// layerCache holds one layer's keys and values of one sequence: pages that
// follow each other without a gap.
type layerCache struct {
	store *pageStore
	// width is KV heads × head dimension.
	width int
	// first is the position at which pages[0] begins, a multiple of
	// pagePositions.
	first int
	pages []*page
}

// write stores keys and values [n × width] at positions from … from+n-1, which
// follow what is stored. In bf16 the values are rounded already.
func (c *layerCache) write(from int, k, v []float32) {
	for n := len(k) / c.width; n > 0; {
		index, at := (from-c.first)/pagePositions, from%pagePositions
		if index == len(c.pages) {
			c.pages = append(c.pages, c.store.take(c.width))
		}
		c.pages[index] = c.store.own(c.pages[index], c.width)
		p := c.pages[index]
		rows := min(n, pagePositions-at)
		lo, count := at*c.width, rows*c.width
		if p.k16 != nil {
			dtype.EncodeBF16(p.k16[lo:lo+count], k[:count])
			dtype.EncodeBF16(p.v16[lo:lo+count], v[:count])
		} else {
			copy(p.k32[lo:lo+count], k[:count])
			copy(p.v32[lo:lo+count], v[:count])
		}
		k, v = k[count:], v[count:]
		from, n = from+rows, n-rows
	}
}

// blocks appends the stored positions lo … hi-1 to dst.
func (c *layerCache) blocks(dst []kernel.KVBlock, lo, hi int) []kernel.KVBlock {
	for lo < hi {
		index, at := (lo-c.first)/pagePositions, lo%pagePositions
		p := c.pages[index]
		rows := min(hi-lo, pagePositions-at)
		from, to := at*c.width, (at+rows)*c.width
		b := kernel.KVBlock{First: lo, Count: rows}
		if p.k16 != nil {
			b.K16, b.V16 = p.k16[from:to], p.v16[from:to]
		} else {
			b.K32, b.V32 = p.k32[from:to], p.v32[from:to]
		}
		dst = append(dst, b)
		lo += rows
	}
	return dst
}

// truncate drops the pages that hold nothing below position n.
func (c *layerCache) truncate(n int) {
	keep := max(0, (n-c.first+pagePositions-1)/pagePositions)
	for _, p := range c.pages[min(keep, len(c.pages)):] {
		c.store.drop(p)
	}
	c.pages = c.pages[:min(keep, len(c.pages))]
	if len(c.pages) == 0 {
		c.first = n / pagePositions * pagePositions
	}
}

// forget drops the pages that hold nothing from position n on.
func (c *layerCache) forget(n int) {
	drop := min(len(c.pages), max(0, (n-c.first)/pagePositions))
	for _, p := range c.pages[:drop] {
		c.store.drop(p)
	}
	c.pages = append(c.pages[:0], c.pages[drop:]...)
	c.first += drop * pagePositions
}

// fork returns a cache that shares all pages.
func (c *layerCache) fork() layerCache {
	f := *c
	f.pages = append([]*page(nil), c.pages...)
	for _, p := range f.pages {
		p.owners++
	}
	return f
}

// release drops everything.
func (c *layerCache) release() {
	for _, p := range c.pages {
		c.store.drop(p)
	}
	c.pages = nil
}
