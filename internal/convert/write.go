package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/machine"
)

// An OutputError says why nothing may be written at a path: the request has to
// change, or to say that it means it.
type OutputError struct {
	Path   string
	Reason string
}

func (e *OutputError) Error() string { return e.Path + ": " + e.Reason }

// A SpaceError says that a file system has no room for a file.
type SpaceError struct {
	Dir         string
	Needs, Free int64
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: the file needs %d bytes, and %d are free", e.Dir, e.Needs, e.Free)
}

// checkOutput refuses to write where something is, unless force says so, and where
// it could not be a file.
func checkOutput(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A dangling link gives way too, so it counts as something.
		if _, err := os.Lstat(path); err == nil && !force {
			return &OutputError{path, "exists; --force overwrites it"}
		}
		if dir := filepath.Dir(path); dir != "." {
			if _, err := os.Stat(dir); err != nil {
				return err
			}
		}
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return &OutputError{path, "is a folder; the output is a file"}
	case !info.Mode().IsRegular():
		return &OutputError{path, "is neither free nor a file"}
	case !force:
		return &OutputError{path, "exists; --force overwrites it"}
	}
	return nil
}

// checkSpace refuses to begin a file that has no room. Where the system does not
// tell, the error comes when the disk is full.
func checkSpace(path string, needs int64) error {
	dir := filepath.Dir(path)
	if free, ok := machine.FreeDisk(dir); ok && free < needs {
		return &SpaceError{dir, needs, free}
	}
	return nil
}

// errCounted ends the writing of a header that is only counted.
var errCounted = errors.New("counted")

// fileSize is the number of bytes that gguf.WriteFile will write.
func fileSize(metadata []gguf.KeyValue, tensors []gguf.Tensor) (int64, error) {
	counted := make([]gguf.Tensor, len(tensors))
	for i, t := range tensors {
		t.Data, t.Content = nil, func(io.Writer) error { return errCounted }
		counted[i] = t
	}
	var n counter
	if err := gguf.Write(&n, metadata, counted); err != nil && !errors.Is(err, errCounted) {
		return 0, err
	}
	for _, t := range tensors {
		size, err := t.Type.Bytes(t.Dims)
		if err != nil {
			return 0, err
		}
		n += counter((size + alignment - 1) / alignment * alignment)
	}
	return int64(n), nil
}

// alignment is that of the files that are written, GGUF's own.
const alignment = 32

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// writeFile writes the file, at once or not at all. content is called for every
// tensor in order.
func writeFile(ctx context.Context, path string, metadata []gguf.KeyValue, items []*item, content func(io.Writer, *item) error) (size int64, err error) {
	tensors := make([]gguf.Tensor, len(items))
	for i, it := range items {
		dims := make([]int, len(it.shape))
		for j, d := range it.shape {
			dims[len(dims)-1-j] = d
		}
		tensors[i] = gguf.Tensor{Name: it.name, Type: gguf.Type(it.format.ID()), Dims: dims, Content: func(w io.Writer) error { return content(w, it) }}
	}
	if size, err = fileSize(metadata, tensors); err != nil {
		return 0, err
	}
	if err := checkSpace(path, size); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return size, gguf.WriteFile(path, metadata, tensors)
}
