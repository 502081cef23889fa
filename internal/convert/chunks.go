package convert

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/pool"
	"github.com/frescolm/fresco/internal/quant"
)

// chunk is the number of elements that one worker converts at a time: whole blocks
// of every format.
const chunk = 1 << 18

// An item is a tensor of the file that is to be written.
type item struct {
	name    string
	kind    model.Kind
	shape   []int
	format  quant.Format
	wanted  quant.Format // by the plan; another one than format after a fallback
	stored  quant.Format // in the source
	derived bool         // the source does not have it
	// size is the number of bytes in the file.
	size int
	// fill sets dst to the elements from at on; at is a multiple of chunk. Several
	// workers call it at once.
	fill func(dst []float32, at int) error
	// blocks, where it is not nil, does so with the blocks of the format.
	blocks func(data []byte, at int) error
}

func (it *item) elements() int { return quant.Tensor{Shape: it.shape}.Elements() }

// tally adds up what the conversion of a tensor, or of several, lost.
type tally struct {
	// weight and loss are the sums of the squares of the elements and of their
	// errors.
	weight, loss float64
}

func (t *tally) add(other tally) {
	t.weight += other.weight
	t.loss += other.loss
}

// A converter converts tensors, chunk by chunk, on a pool.
type converter struct {
	ctx   context.Context
	pool  *pool.Pool
	lanes []lane
	// unmeasured leaves out what the conversion loses.
	unmeasured bool
	// done is called with the bytes that were written.
	done func(n int)
}

// A lane is the memory of one chunk in the making.
type lane struct {
	values, back []float32
	data         []byte
	tally        tally
	err          error
}

func newConverter(ctx context.Context, p *pool.Pool, done func(int)) *converter {
	c := &converter{ctx: ctx, pool: p, lanes: make([]lane, p.Workers()), done: done}
	for i := range c.lanes {
		c.lanes[i] = lane{values: make([]float32, chunk), back: make([]float32, chunk)}
	}
	return c
}

// write converts a tensor and writes it. Chunks are converted side by side, and
// written and added up in their order.
func (c *converter) write(w io.Writer, it *item) (tally, error) {
	var sum tally
	elements := it.elements()
	for from := 0; from < elements; from += chunk * len(c.lanes) {
		if c.ctx.Err() != nil {
			return sum, context.Cause(c.ctx)
		}
		n := min(len(c.lanes), (elements-from+chunk-1)/chunk)
		c.pool.Run(n, func(_, i int) {
			at := from + i*chunk
			c.lanes[i].convert(it, at, min(chunk, elements-at), !c.unmeasured)
		})
		for i := range n {
			l := &c.lanes[i]
			if l.err != nil {
				return sum, fmt.Errorf("elements from %d on: %w", from+i*chunk, l.err)
			}
			sum.add(l.tally)
			if _, err := w.Write(l.data); err != nil {
				return sum, err
			}
			c.done(len(l.data))
		}
	}
	return sum, nil
}

// convert makes one chunk of n elements, and measures what that loses by the
// decoder.
func (l *lane) convert(it *item, at, n int, measure bool) {
	values, back := l.values[:n], l.back[:n]
	size, err := it.format.RowBytes(n)
	if err == nil {
		if cap(l.data) < size {
			l.data = make([]byte, size)
		}
		l.data = l.data[:size]
		err = it.make(l.data, values, at)
	}
	if err == nil && measure {
		err = quant.Decode(it.format, back, l.data)
	}
	l.tally, l.err = tally{}, err
	if err != nil || !measure {
		return
	}
	for i, x := range values {
		d := float64(x) - float64(back[i])
		l.tally.weight += float64(x) * float64(x)
		l.tally.loss += d * d
	}
	if t := l.tally.weight + l.tally.loss; math.IsNaN(t) || math.IsInf(t, 0) {
		l.err = nonFinite(it.format, values)
	}
}

// make makes the data of the elements from at on; values is room for them.
func (it *item) make(data []byte, values []float32, at int) error {
	if it.blocks != nil {
		return it.blocks(data, at)
	}
	if err := it.fill(values, at); err != nil {
		return err
	}
	return quant.Encode(it.format, data, values)
}

// nonFinite names the first element that a format cannot hold.
func nonFinite(f quant.Format, values []float32) error {
	for i, x := range values {
		if x-x != 0 {
			return fmt.Errorf("element %d of them is %v", i, x)
		}
	}
	return fmt.Errorf("an element is too large for %v", f)
}

// copied writes a tensor that stays as it is stored.
func (c *converter) copied(w io.Writer, data []byte) error {
	for len(data) > 0 {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		part := data[:min(len(data), 4*chunk)]
		if _, err := w.Write(part); err != nil {
			return err
		}
		c.done(len(part))
		data = data[len(part):]
	}
	return nil
}
