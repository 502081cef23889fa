package weights

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/quant"
)

// ggufMagic begins every GGUF file.
const ggufMagic = "GGUF"

// splitKey is the number of files over which a model is spread.
const splitKey = "split.count"

// OpenGGUF maps the GGUF file at path, which is told by its content and not by
// its name. Shapes are those of the folder layout: ggml's dimensions in reverse
// order. A file of another kind, a malformed one, or one of several parts is a
// *RejectedError.
func OpenGGUF(path string) (*Checkpoint, error) {
	is, err := isGGUF(path)
	switch {
	case err != nil:
		return nil, err
	case !is && !strings.EqualFold(filepath.Ext(path), ".gguf"): // else the parser says what it is
		return nil, &RejectedError{Path: path, Err: errors.New("is a file, but not a GGUF file; a model is a GGUF file, or the folder that holds its config.json")}
	}
	file, err := gguf.Open(path)
	switch {
	case err != nil && ofFileSystem(err):
		return nil, err
	case err != nil:
		return nil, &RejectedError{Path: path, Err: err, named: true}
	}
	c := &Checkpoint{name: path, gguf: file}
	if file.Has(splitKey) {
		parts, err := file.Uint(splitKey)
		if err == nil && parts > 1 {
			err = fmt.Errorf("gguf: %s: key %s: a model in %d files is not supported", path, splitKey, parts)
		}
		if err != nil {
			return nil, errors.Join(&RejectedError{Path: path, Err: err, named: true}, file.Close())
		}
	}
	c.readGGUFTable()
	return c, nil
}

func (c *Checkpoint) readGGUFTable() {
	stored := c.gguf.Tensors()
	slices.SortFunc(stored, func(a, b gguf.Tensor) int { return cmp.Compare(a.Name, b.Name) })
	file := filepath.Base(c.name)
	for _, t := range stored {
		shape := slices.Clone(t.Dims)
		slices.Reverse(shape)
		format, err := quant.ByID(uint32(t.Type))
		if err != nil {
			format = quant.Invalid // which fits no slot
		}
		c.tensors = append(c.tensors, quant.Tensor{Format: format, Shape: shape, Data: t.Data})
		c.infos = append(c.infos, Info{Name: t.Name, Type: t.Type.String(), Shape: shape, Bytes: int64(len(t.Data)), File: file})
	}
}

// ggufIn returns the name of the only GGUF file in a folder without safetensors
// files, "" where there is none. Several are a *RejectedError that names two.
func ggufIn(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return "", nil // config.json can be readable where the list is not, and tells it otherwise
	}
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.Contains(e.Name(), ".safetensors") }) {
		return "", nil
	}
	found := ""
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		is, err := isGGUF(path)
		if err != nil {
			if strings.EqualFold(filepath.Ext(path), ".gguf") {
				return "", err
			}
			continue // no part of the model, as far as its name goes
		}
		if is && found != "" {
			return "", &RejectedError{Path: dir, Err: fmt.Errorf("holds several GGUF files, %s and %s: name one of them", Show(found), Show(e.Name()))}
		}
		if is {
			found = e.Name()
		}
	}
	return found, nil
}

// isGGUF reports whether path is a regular file that begins as a GGUF file does.
func isGGUF(path string) (is bool, err error) {
	// Asked before opening, which would wait at a pipe.
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, len(ggufMagic))
	switch n, err := io.ReadFull(f, head); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return false, nil
	case err != nil:
		return false, err
	default:
		return string(head[:n]) == ggufMagic, nil
	}
}
