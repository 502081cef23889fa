package convert

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/rng"
)

// Blocks of 256 elements that have no encoder are drawn as they are: random codes,
// under scales that give the elements a mean of 0 and the deviation that is asked
// for. Of the layouts (package quant) this needs to know where the scales are.
const (
	superElements = 256

	// Q4_K: d, dmin, scales of 6 bits with offsets of 6 bits, codes of 4 bits. All
	// offsets are their scales, and dmin is 7.5·d, so that a code of 7.5 is 0.
	q4kScales, q4kCodes = 4, 16
	// Q6_K: codes of 4 and of 2 bits, scales of 8 bits, d.
	q6kScales, q6kD = 192, 208
)

// Root mean squares of codes and scales as they are drawn: uniform codes of n
// values, scales of 32 to 63 and ±(64 to 127).
var (
	q4kSpread = uniformDeviation(16) * math.Hypot(47.5, uniformDeviation(32))
	q6kSpread = math.Hypot(0.5, uniformDeviation(64)) * math.Hypot(95.5, uniformDeviation(64))
)

// uniformDeviation is the standard deviation of n neighbouring whole numbers.
func uniformDeviation(n float64) float64 { return math.Sqrt((n*n - 1) / 12) }

// hasBlocks reports whether blocks can draw a format.
func hasBlocks(f quant.Format) bool { return f == quant.Q4_K || f == quant.Q6_K }

// blocks sets data to whole blocks, the first of which holds element at.
func (r random) blocks(f quant.Format, data []byte, at int) error {
	if !hasBlocks(f) {
		return fmt.Errorf("random blocks of %v", f)
	}
	size := f.BlockBytes()
	for ; len(data) > 0; data, at = data[size:], at+superElements {
		b := data[:size]
		r.bytes(b, at/superElements)
		deviation := r.deviation
		if r.stride > 1 && at/r.row%r.stride != 0 {
			deviation *= rareScale
		}
		var err error
		if f == quant.Q4_K {
			err = scaleQ4K(b, float64(deviation))
		} else {
			err = scaleQ6K(b, float64(deviation))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bytes draws the bytes of a block.
func (r random) bytes(b []byte, block int) {
	// Blocks have fewer than 16·16 bytes: 16 counters for each.
	for i := uint64(0); len(b) > 0; i++ {
		index := uint64(block)*16 + i
		var drawn [16]byte
		for j, w := range rng.Block(r.key, [4]uint32{uint32(index), uint32(index >> 32), r.tensor[0], r.tensor[1]}) {
			binary.LittleEndian.PutUint32(drawn[4*j:], w)
		}
		b = b[copy(b, drawn[:]):]
	}
}

func scaleQ4K(b []byte, deviation float64) error {
	d := deviation / q4kSpread
	packed := b[q4kScales:q4kCodes]
	var scales [8]byte
	for p := range scales {
		scales[p] = 32 + packed[p]&31
	}
	for p := range 4 {
		low, high := scales[p], scales[p+4]
		packed[p] = low | high>>4<<6
		packed[p+4] = low | high>>4<<6
		packed[p+8] = high&15 | high<<4
	}
	return putHalves(b, d, 7.5*d)
}

func scaleQ6K(b []byte, deviation float64) error {
	for i, s := range b[q6kScales:q6kD] {
		scale := int8(64 + s&63)
		if s&64 != 0 {
			scale = -scale
		}
		b[q6kScales+i] = byte(scale)
	}
	return putHalves(b[q6kD:], deviation/q6kSpread)
}

// putHalves writes F16 numbers to the start of b.
func putHalves(b []byte, values ...float64) error {
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return quant.Encode(quant.F16, b[:2*len(values)], narrow)
}
