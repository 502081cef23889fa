package gguf

import (
	"fmt"
	"io"
	"slices"

	"github.com/frescolm/fresco/internal/mmap"
)

// File is one open file. Its methods, Close aside, may be called from several
// goroutines at once.
type File struct {
	name    string
	mapping *mmap.Map // nil for a file read from memory

	version   uint32
	alignment uint64
	entries   []entry        // metadata, in the order of the file
	byKey     map[string]int // into entries
	infos     []info         // tensors, in the order of the file
	byName    map[string]int // into infos
	dataFrom  int            // where offset 0 of the tensors is
	data      []byte         // from there on; empty when the file ends before
}

// Tensor is a dense array in blocks of a ggml type. Dims are in ggml's order:
// Dims[0] is the length of a row, whose elements are contiguous, so that a
// matrix of 3 rows of 8 elements has Dims [8, 3].
//
// The Data of a tensor that was read belongs to its file: it may be read-only
// memory, must not be written to, and is gone when the file is closed. It begins
// at a multiple of the file's alignment from the start of the file.
type Tensor struct {
	Name string
	Type Type
	Dims []int
	Data []byte

	// Content is for writing tensors that need not be in memory as a whole.
	// Where it is set, it is called once to write what Data would hold, all of
	// it, and Data is ignored. It is nil in a tensor that was read.
	Content func(w io.Writer) error
}

// Open maps the file at path and checks all of it but the bytes of the tensors.
// The file must not be truncated or rewritten in place while it is open;
// replacing it by a rename, as [WriteFile] does, is safe.
func Open(path string) (*File, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	f, err := Parse(path, m.Bytes())
	if err != nil {
		if closeErr := m.Close(); closeErr != nil {
			return nil, fmt.Errorf("%w (and %v)", err, closeErr)
		}
		return nil, err
	}
	f.mapping = m
	return f, nil
}

// Parse reads a file from memory; name stands in errors. Tensors and metadata
// are views of data, which must not change while the File is used.
func Parse(name string, data []byte) (*File, error) {
	f := &File{name: name}
	if err := f.parse(data); err != nil {
		return nil, fmt.Errorf("gguf: %s: %w", name, err)
	}
	return f, nil
}

// Name is the path that Open was given, or the name that Parse was given.
func (f *File) Name() string { return f.name }

// Version is the version of the format, 2 or 3.
func (f *File) Version() int { return int(f.version) }

// Alignment is the number of bytes of which every tensor's offset is a multiple.
func (f *File) Alignment() int { return int(f.alignment) }

// Tensors lists the tensors in the order of the file.
func (f *File) Tensors() []Tensor {
	all := make([]Tensor, len(f.infos))
	for i := range f.infos {
		all[i] = f.tensor(&f.infos[i])
	}
	return all
}

// Tensor returns the tensor called name, and whether there is one.
func (f *File) Tensor(name string) (Tensor, bool) {
	i, ok := f.byName[name]
	if !ok {
		return Tensor{}, false
	}
	return f.tensor(&f.infos[i]), true
}

func (f *File) tensor(t *info) Tensor {
	end := t.offset + t.size
	return Tensor{Name: t.name, Type: t.typ, Dims: slices.Clone(t.dims), Data: f.data[t.offset:end:end]}
}

// Offset returns the position in the file, in bytes, of the data of the tensor
// called name, and whether there is one.
func (f *File) Offset(name string) (int64, bool) {
	i, ok := f.byName[name]
	if !ok {
		return 0, false
	}
	return int64(f.dataFrom) + int64(f.infos[i].offset), true
}

// Close ends the mapping, and with it the Data of every tensor of the file; the
// file then has no tensors and no metadata. Closing again does nothing.
func (f *File) Close() error {
	f.entries, f.byKey, f.infos, f.byName, f.data = nil, nil, nil, nil, nil
	if f.mapping == nil {
		return nil
	}
	if err := f.mapping.Close(); err != nil {
		return fmt.Errorf("gguf: %s: %w", f.name, err)
	}
	return nil
}
