//go:build linux || darwin || windows

package machine

import (
	"math"
	"math/bits"
)

// clampProduct is a·b, or the largest int64 when that is more.
func clampProduct(a, b uint64) int64 {
	high, low := bits.Mul64(a, b)
	if high != 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}
