// Package dtype names the element types that checkpoints hold and converts
// between them and float32.
//
// A [Type] is spelled as safetensors spells it. The scalar conversions ToX and
// FromX work on one element and are the definition; the slice conversions give
// the same values faster. Every narrowing rounds to nearest, ties to even, in
// a single step from float32.
package dtype
