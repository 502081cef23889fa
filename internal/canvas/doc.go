// Package canvas holds the plain data that crosses the seam between the
// engine and a compute backend: where a random draw lives (Address), what a
// position of a canvas is (Cell), what is asked of a distribution (Sampling,
// Candidates, Adjustment) and what is answered about it (Stats).
//
// It is a leaf: it imports nothing and computes nothing. The sampler
// (internal/diffusion) and the constraints (internal/constraint) see only these
// types and internal/rng, never a tensor.
//
// Token ids are int32 in the whole program. All entropies and log-probabilities
// are in nats.
package canvas
