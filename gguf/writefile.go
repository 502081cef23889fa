package gguf

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes a whole file at path, with the bytes of [Write]. It appears
// at once or not at all: the bytes go to a temporary file in the same folder,
// which is flushed to disk and then renamed over path. On an error, a full disk
// included, the temporary file is removed and what was at path stays. Tensors
// may be views of the file that is being replaced, except on Windows, which
// does not let a mapped file be replaced.
func WriteFile(path string, metadata []KeyValue, tensors []Tensor) error {
	err := writeAtomic(path, func(w io.Writer) error { return write(w, metadata, tensors) })
	if err != nil {
		return fmt.Errorf("gguf: %s: %w", path, err)
	}
	return nil
}

func writeAtomic(path string, content func(io.Writer) error) (err error) {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, "."+base+"."+rand.Text()[:10]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	err = content(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temp, path)
}
