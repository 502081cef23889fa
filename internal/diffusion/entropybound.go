package diffusion

import (
	"cmp"
	"slices"
)

// acceptEntropy decides which positions a step accepts: the surest ones, until
// the entropy already accepted exceeds the bound (docs/model.md §5.3). With
// the entropies in ascending order h₁ ≤ h₂ ≤ … and their running sum Cₖ, item k
// is accepted when
//
//	Cₖ − hₖ ≤ bound
//
// that is, when all items before it sum to at most the bound, whatever its own
// entropy. So the first is always accepted, and the last one accepted may be
// far above the bound.
//
// The sum runs in float32 from left to right and the difference is taken as
// written, not replaced by the sum before, so that rounding at the cut is the
// official one. Of equal entropies the lower position comes first.
//
// accepted, entropy and order have one element a position; order is scratch,
// and holds the positions in ascending entropy afterwards.
func acceptEntropy(accepted []bool, entropy []float32, order []int32, bound float32) {
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(entropy[a], entropy[b]) })
	var sum float32
	for _, i := range order {
		h := entropy[i]
		sum += h
		accepted[i] = sum-h <= bound
	}
}
