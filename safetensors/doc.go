// Package safetensors reads and writes checkpoints in the safetensors format
// of Hugging Face.
//
// A file is the length of its header (8 bytes, little-endian), the header (a
// JSON object that gives each tensor its dtype, shape and data_offsets, and
// free strings under __metadata__), and the bytes of all tensors one after
// another. [Open] maps a file, [Parse] reads one from memory, [OpenFolder] and
// [ReadFolder] put the shards of a folder together, [Write] and [WriteFile]
// write. Tensors are views of the mapped bytes; nothing is copied or converted.
//
// The reader trusts nothing: the header must be exact JSON without duplicate
// keys, every tensor must have the bytes that its shape needs, and the tensors
// must cover the data without overlap or gap. No length in a file makes the
// reader allocate more than a small multiple of the file's own header. Errors
// name the file and, where there is one, the tensor and the byte.
package safetensors
