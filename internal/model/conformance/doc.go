// Package conformance checks the contract of package model against a backend:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, func(t *testing.T) model.Backend { … })
//	}
//
// Everything about sizes comes from the backend's Config. All comparisons are
// bit for bit. The suite knows nothing about what the model computes: it
// compares the backend with itself, on another way to the same state.
//
// Same compares two backends that must not differ, for example one with a single
// thread and one with seven.
package conformance
