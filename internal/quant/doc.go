// Package quant holds the number formats in which checkpoints store quantised
// weights: their layouts, and a reference decoder of each that defines its
// values. Kernels are held to these decoders.
//
// A [Format] is a block type of GGUF, spelled as there. Its blocks hold a fixed
// number of consecutive elements of one row, so that a row is a whole number of
// blocks and any run of whole blocks can be decoded alone. [Decode] is bit for
// bit what gguf-py and ggml give; every product and every sum is one float32
// operation, in the order that they use. [Encode] is byte for byte gguf-py's
// quantiser, for those formats that have one there.
//
// [FP8] and [NVFP4] are the two forms of safetensors checkpoints, in which
// codes and scales are tensors of their own.
//
// Files: format.go the layouts, convert.go the checks, and one file for each
// family: floats.go, legacy.go (Q8_0, Q4 and Q5, of 32 elements),
// kquants.go (Q2_K to Q6_K, of 256), iq4.go (codebook of 16 values), mxfp4.go,
// fp8.go, nvfp4.go.
package quant
