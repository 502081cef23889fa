// Package gguf reads and writes checkpoints in the GGUF format of ggml.
//
// A file is a header (magic, version, the number of tensors and of metadata
// keys), the metadata (keys with typed values), one description per tensor
// (name, dimensions, type, offset) and, from a multiple of the alignment on, the
// bytes of the tensors. All numbers are little-endian. [Open] maps a file,
// [Parse] reads one from memory, [Write] and [WriteFile] write. Versions 2 and 3
// are read, which have the same layout; version 3 is written. Tensors are views
// of the mapped bytes in ggml's block types; nothing is copied or converted. The
// definition is docs/gguf.md of ggml; the block types are those of its ggml.h.
//
// The reader trusts nothing: every count, length, offset and size is held
// against the bytes that are there before it is used, keys and names are unique
// UTF-8, tensors are aligned, lie inside the file and do not overlap. Bytes
// between tensors and after the last one are allowed, as other programs leave
// some. An array inside an array is refused: no model uses it. No number in a
// file makes the reader allocate more than a small multiple of the part of the
// file that describes keys and tensors. Errors name the file, the key or tensor,
// and the number or byte that is wrong.
package gguf
