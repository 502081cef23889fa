package rng

import "math/bits"

// The constants of Philox4x32 (SC 2011, table 2 and section 4.3): two odd
// multipliers, and two Weyl increments by which the key moves on between
// rounds.
const (
	multiplier0 = 0xD2511F53
	multiplier1 = 0xCD9E8D57
	weyl0       = 0x9E3779B9 // the golden ratio
	weyl1       = 0xBB67AE85 // √3 − 1
	rounds      = 10
)

// Block returns the four random words of Philox4x32-10 for a key and a counter.
// For a fixed key it is a bijection of the counter.
func Block(key [2]uint32, counter [4]uint32) [4]uint32 {
	k0, k1 := key[0], key[1]
	c0, c1, c2, c3 := counter[0], counter[1], counter[2], counter[3]
	for range rounds {
		high0, low0 := bits.Mul32(multiplier0, c0)
		high1, low1 := bits.Mul32(multiplier1, c2)
		c0, c1, c2, c3 = high1^c1^k0, low1, high0^c3^k1, low0
		k0 += weyl0
		k1 += weyl1
	}
	return [4]uint32{c0, c1, c2, c3}
}
