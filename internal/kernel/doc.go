// Package kernel computes: every operation of the model on float32 activations,
// as reference Go, and the drivers that spread them over the workers of a
// pool.
//
// # Arithmetic
//
// Activations are float32 slices in row-major order, one row per token. With
// Rounding BF16 every result that the official implementation stores in
// bfloat16 (model.md §3.1) is rounded to it, so the values in the float32 slices
// are then exactly representable; with F32 nothing is rounded. Weights are read
// as they are stored (Matrix) and unpacked a few rows at a time.
//
// # One order
//
// The same request must give the same bytes with any number of threads and any
// neighbours. Hence three rules, which every kernel here keeps and every other
// class must keep as well:
//
//   - A reduction has one order that depends on its row alone. Products add
//     k = 0, 1, 2 … into one accumulator; attention adds keys by ascending
//     position; a vocabulary pass adds ids in panels of VocabPanel.
//   - One row gives the same bits alone and among others.
//   - Products are rounded explicitly, float32(a*b), so that the compiler never
//     fuses them; exp, tanh, sin, cos and log are this package's own. Generic
//     results are therefore equal on every target of Go.
//
// # Classes
//
// A kernel class is a set of implementations for one kind of machine. The
// registry (class.go) lists them; "generic", the reference, is always there and
// is the only one under the build tag purego. "avx2" and "avx512" compute
// products, weighted sums, exponentials and GELU in assembly (vector_amd64.go)
// and everything else as "generic" does. To add a class, fill a set with its
// functions and list it in class.go; the drivers stay as they are.
package kernel
