package mmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Map is the content of one file. It holds no open file: on Linux and macOS
// the file may be renamed or removed meanwhile. A file that is truncated while
// it is mapped makes later reads of the lost part fault, so files are replaced
// by renaming, never rewritten in place.
type Map struct {
	data  []byte
	unmap func() error // nil when there is nothing to undo
}

// Open maps the regular file at path, which may be empty. A folder, a device
// or a pipe is an error that says so; a missing file satisfies
// errors.Is(err, fs.ErrNotExist).
func Open(path string) (*Map, error) {
	// Ask before opening: opening a pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := mapFile(f)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		return nil, errors.Join(closeErr, m.Close())
	}
	return m, err
}

func mapFile(f *os.File) (*Map, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := int(info.Size())
	if int64(size) != info.Size() {
		return nil, fmt.Errorf("%s: %d bytes do not fit this machine's address space", f.Name(), info.Size())
	}
	if size == 0 { // no system maps nothing
		return &Map{}, nil
	}
	data, unmap, err := mapBytes(f, size)
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	return &Map{data: data, unmap: unmap}, nil
}

func regular(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s: is a directory, not a file", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: is not a regular file (%v)", path, info.Mode().Type())
	}
	return nil
}

// Bytes is the file's content, nil after Close. It must not be written to and
// must not be used after Close.
func (m *Map) Bytes() []byte { return m.data }

// Close releases the mapping. Closing again does nothing.
func (m *Map) Close() error {
	unmap := m.unmap
	m.data, m.unmap = nil, nil
	if unmap == nil {
		return nil
	}
	return unmap()
}
