package rng

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
)

// Uniform returns the uniform number of a block in [0, 1): the highest 53 bits
// of word 1 (high half) and word 0 (low half), divided by 2⁵³. Every value is
// an exact float64, so no rounding can reach 1.
func Uniform(block [4]uint32) float64 {
	return float64(word64(block)>>11) / (1 << 53)
}

// Index returns the uniform index of a block in 0 … n-1: the high half of the
// 128-bit product of n and the 64 bits of word 1 (high half) and word 0 (low
// half). An index is off from probability 1/n by less than 2⁻⁶⁴. It returns 0
// when n is not positive.
func Index(block [4]uint32, n int) int {
	if n <= 0 {
		return 0
	}
	high, _ := bits.Mul64(word64(block), uint64(n))
	return int(high)
}

// FreshSeed returns a seed from the operating system's generator, for a request
// that names none. It is below 2⁵³, so that a JSON number holds it exactly in
// every client.
func FreshSeed() uint64 {
	var b [8]byte
	// Read never returns an error: it ends the program when the operating
	// system has no randomness to give.
	_, _ = rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

func word64(block [4]uint32) uint64 {
	return uint64(block[1])<<32 | uint64(block[0])
}
