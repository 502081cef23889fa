// Package rng holds the counter-based generator from which every random draw
// comes: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random
// Numbers: As Easy as 1, 2, 3" (SC 2011).
//
// A draw is a function of a key and a counter. There is no state and no stream:
// whoever knows the address of a draw (canvas.Address gives key and counter)
// can repeat it alone, in any order, on any thread.
//
//	block := rng.Block(at.Key(), at.Counter())
//	id := noise.At(rng.Index(block, noise.Count))
//
// docs/randomness.md says which address decides what, and how.
//
// It is a leaf: it imports nothing of this module.
package rng
