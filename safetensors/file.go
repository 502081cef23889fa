package safetensors

import (
	"fmt"
	"maps"
	"slices"

	"github.com/frescolm/fresco/internal/mmap"
)

// File is one open file. Its methods, Close aside, may be called from several
// goroutines at once.
type File struct {
	name     string
	mapping  *mmap.Map // nil for a file read from memory
	header   *header
	byName   map[string]*entry
	dataFrom int64
}

// Open maps the file at path and checks all of its header. The file must not be
// truncated or rewritten in place while it is open; replacing it by a rename,
// as [WriteFile] does, is safe.
func Open(path string) (*File, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
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

// Parse reads a file from memory; name stands in errors. The tensors are views
// of data, which must not change while the File is used.
func Parse(name string, data []byte) (*File, error) {
	h, err := parseHeader(data)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %s: %w", name, err)
	}
	f := &File{
		name:     name,
		header:   h,
		byName:   make(map[string]*entry, len(h.entries)),
		dataFrom: int64(len(data) - len(h.data)),
	}
	for i := range h.entries {
		f.byName[h.entries[i].name] = &h.entries[i]
	}
	return f, nil
}

// Name is the path that Open was given, or the name that Parse was given.
func (f *File) Name() string { return f.name }

// Names lists the tensors by rising name.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.byName)) }

// Tensor returns the tensor called name, and whether there is one. Its Data is
// a view that ends with Close.
func (f *File) Tensor(name string) (Tensor, bool) {
	e, ok := f.byName[name]
	if !ok {
		return Tensor{}, false
	}
	return Tensor{
		DType: DType(e.dtype.String()),
		Shape: slices.Clone(e.shape),
		Data:  f.header.data[e.begin:e.end:e.end],
	}, true
}

// Offset returns the position in the file, in bytes, of the data of the tensor
// called name, and whether there is one.
func (f *File) Offset(name string) (int64, bool) {
	e, ok := f.byName[name]
	if !ok {
		return 0, false
	}
	return f.dataFrom + int64(e.begin), true
}

// Metadata returns a copy of the strings under __metadata__, nil when the file
// has none.
func (f *File) Metadata() map[string]string { return maps.Clone(f.header.metadata) }

// Close ends the mapping, and with it the Data of every tensor of the file; the
// file then has no tensors. Closing again does nothing.
func (f *File) Close() error {
	f.byName, f.header.data = nil, nil
	if f.mapping == nil {
		return nil
	}
	if err := f.mapping.Close(); err != nil {
		return fmt.Errorf("safetensors: %s: %w", f.name, err)
	}
	return nil
}
