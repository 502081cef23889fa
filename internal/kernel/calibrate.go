package kernel

import "sync/atomic"

// A peakLoop does nothing but multiply-adds on registers.
type peakLoop struct {
	// run replaces each of its sums s by s·f+f, rounds times, at least once, and
	// returns the first lanes of the sums, added.
	run func(rounds int, f float32) float32
	// perRound is the number of operations in a round: two a multiply-add and lane.
	perRound int
}

// genericPeak is that of plain Go, which does not fuse.
var genericPeak = peakLoop{multiplyAddsGeneric, 2 * 12}

// multiplyAddsGeneric has as many sums as registers hold beside the factor.
func multiplyAddsGeneric(rounds int, f float32) float32 {
	var a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11 float32
	for range rounds {
		a0 = float32(a0*f) + f
		a1 = float32(a1*f) + f
		a2 = float32(a2*f) + f
		a3 = float32(a3*f) + f
		a4 = float32(a4*f) + f
		a5 = float32(a5*f) + f
		a6 = float32(a6*f) + f
		a7 = float32(a7*f) + f
		a8 = float32(a8*f) + f
		a9 = float32(a9*f) + f
		a10 = float32(a10*f) + f
		a11 = float32(a11*f) + f
	}
	return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11
}

// The calibration divides its work into more items than workers, so that one that
// starts late does less of it.
const (
	peakItems   = 8       // a worker
	readItem    = 1 << 17 // of 8 bytes
	peakPerItem = 200_000 // rounds
)

// MultiplyAdds keeps the unit on which the products of the class run busy for a few
// milliseconds, on every worker, and returns the number of float32 operations
// that were done, two for a multiply-add. No other float32 code of the class can be
// faster.
func (t *Team) MultiplyAdds() (operations float64) {
	loop, ok := peakLoops[t.class]
	if !ok {
		loop = genericPeak
	}
	items := peakItems * t.Workers()
	t.pool.Run(items, func(int, int) { loop.run(peakPerItem, 0.5) })
	return float64(items) * peakPerItem * float64(loop.perRound)
}

// Read reads all of data once, spread over the workers, and returns the sum of its
// words.
func (t *Team) Read(data []uint64) uint64 {
	var sum atomic.Uint64
	t.pool.Run((len(data)+readItem-1)/readItem, func(_, item int) {
		sum.Add(sumWords(data[item*readItem : min(len(data), (item+1)*readItem)]))
	})
	return sum.Load()
}

// sumWords takes a line of the cache at a time.
func sumWords(data []uint64) uint64 {
	var a, b, c, d uint64
	for len(data) >= 8 {
		line := (*[8]uint64)(data)
		a += line[0] + line[4]
		b += line[1] + line[5]
		c += line[2] + line[6]
		d += line[3] + line[7]
		data = data[8:]
	}
	for _, v := range data {
		a += v
	}
	return a + b + c + d
}

// Unpack unpacks all of w, as a product with it does, and drops the result: what
// the product would take if it had nothing else to do.
func (t *Team) Unpack(w Matrix, round Rounding) {
	t.pool.Run((w.Rows+panelRows-1)/panelRows, func(worker, item int) {
		first := item * panelRows
		panel := grow(&t.scratch[worker].panel, panelRows*w.Cols)
		w.unpack(panel, first, min(panelRows, w.Rows-first), round)
	})
}
