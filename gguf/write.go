package gguf

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Write writes a whole file of version 3 to w: metadata and tensors in the order
// in which they are given, every tensor at a multiple of the alignment, with
// zeros between and after them. The alignment is 32 unless metadata has another
// as a uint32 under general.alignment. The same input gives the same bytes, and
// a file that was written this way is written again alike from the Metadata and
// Tensors read from it. Nothing is written when a key, value, name, type or
// dimension cannot be stored or the Data of a tensor does not fit its Dims; a
// Content that writes more or less is an error when it is reached.
//
// Names are written as they are, up to 65535 bytes; ggml reads no tensor whose
// name is longer than 63.
func Write(w io.Writer, metadata []KeyValue, tensors []Tensor) error {
	if err := write(w, metadata, tensors); err != nil {
		return fmt.Errorf("gguf: %w", err)
	}
	return nil
}

func write(w io.Writer, metadata []KeyValue, tensors []Tensor) error {
	alignment, err := checkMetadata(metadata)
	if err != nil {
		return err
	}
	sizes, err := checkTensors(tensors)
	if err != nil {
		return err
	}
	head, err := appendHeader(nil, metadata, tensors, sizes, alignment)
	if err != nil {
		return err
	}
	if err := writePadded(w, head, alignment); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	for i, t := range tensors {
		if err := writeTensor(w, t, sizes[i], alignment); err != nil {
			return fmt.Errorf("tensor %s: %w", label(t.Name), err)
		}
	}
	return nil
}

// checkMetadata checks the keys and returns the alignment.
func checkMetadata(metadata []KeyValue) (alignment uint64, err error) {
	alignment = defaultAlignment
	seen := make(map[string]bool, len(metadata))
	for i, kv := range metadata {
		if err := checkName(kv.Key); err != nil {
			return 0, fmt.Errorf("metadata key %d: %w", i, err)
		}
		if seen[kv.Key] {
			return 0, fmt.Errorf("duplicate key %s", label(kv.Key))
		}
		seen[kv.Key] = true
		if kv.Key == alignmentKey {
			if alignment, err = alignmentOf(kv.Value); err != nil {
				return 0, err
			}
		}
	}
	return alignment, nil
}

// alignmentOf returns the alignment from the value under alignmentKey.
func alignmentOf(v any) (uint64, error) {
	n, ok := v.(uint32)
	switch {
	case !ok:
		return 0, fmt.Errorf("key %s: alignment type %T is not uint32", alignmentKey, v)
	case bits.OnesCount32(n) != 1:
		return 0, fmt.Errorf("key %s: alignment %d is not a power of two", alignmentKey, n)
	}
	return uint64(n), nil
}

// checkTensors checks the tensors and returns their sizes in bytes.
func checkTensors(tensors []Tensor) ([]uint64, error) {
	sizes := make([]uint64, len(tensors))
	seen := make(map[string]bool, len(tensors))
	for i, t := range tensors {
		if err := checkName(t.Name); err != nil {
			return nil, fmt.Errorf("tensor %d: %w", i, err)
		}
		if seen[t.Name] {
			return nil, fmt.Errorf("duplicate tensor %s", label(t.Name))
		}
		seen[t.Name] = true
		n, err := t.Type.Bytes(t.Dims)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", label(t.Name), err)
		}
		if t.Content == nil && len(t.Data) != n {
			return nil, fmt.Errorf("tensor %s: %v %d has %d bytes, not %d", label(t.Name), t.Type, t.Dims, n, len(t.Data))
		}
		sizes[i] = uint64(n)
	}
	return sizes, nil
}

// appendHeader appends everything in front of the data but the padding.
func appendHeader(b []byte, metadata []KeyValue, tensors []Tensor, sizes []uint64, alignment uint64) ([]byte, error) {
	b = append(b, magic...)
	b = putU32(b, maxVersion)
	b = putU64(b, uint64(len(tensors)))
	b = putU64(b, uint64(len(metadata)))
	for _, kv := range metadata {
		var err error
		if b, err = appendValue(putText(b, kv.Key), kv.Value); err != nil {
			return nil, fmt.Errorf("key %s: %w", label(kv.Key), err)
		}
	}
	var offset uint64
	for i, t := range tensors {
		b = putText(b, t.Name)
		b = putU32(b, uint32(len(t.Dims)))
		for _, d := range t.Dims {
			b = putU64(b, uint64(d))
		}
		b = putU32(b, uint32(t.Type))
		b = putU64(b, offset)
		offset += sizes[i] + padding(sizes[i], alignment)
	}
	return b, nil
}

func writeTensor(w io.Writer, t Tensor, size, alignment uint64) error {
	if t.Content == nil {
		return writePadded(w, t.Data, alignment)
	}
	exact := &exactWriter{w: w, left: size}
	if err := t.Content(exact); err != nil {
		return err
	}
	if exact.left > 0 {
		return fmt.Errorf("%v %d has %d bytes, but the content ended %d before", t.Type, t.Dims, size, exact.left)
	}
	return writeZeros(w, padding(size, alignment))
}

func writePadded(w io.Writer, data []byte, alignment uint64) error {
	if _, err := w.Write(data); err != nil {
		return err
	}
	return writeZeros(w, padding(uint64(len(data)), alignment))
}

func writeZeros(w io.Writer, n uint64) error {
	zeros := make([]byte, min(n, 1<<16))
	for n > 0 {
		part := zeros[:min(n, uint64(len(zeros)))]
		if _, err := w.Write(part); err != nil {
			return err
		}
		n -= uint64(len(part))
	}
	return nil
}

var errTooMuch = errors.New("the content is longer than the tensor")

// exactWriter refuses to write beyond the end of a tensor.
type exactWriter struct {
	w    io.Writer
	left uint64
}

func (e *exactWriter) Write(p []byte) (int, error) {
	if uint64(len(p)) > e.left {
		return 0, errTooMuch
	}
	n, err := e.w.Write(p)
	e.left -= uint64(n)
	return n, err
}
