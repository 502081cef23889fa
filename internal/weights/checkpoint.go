package weights

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/safetensors"
)

// ConfigName is the file that every checkpoint folder has.
const ConfigName = "config.json"

// maxFile is the size up to which ReadFile reads a file, in bytes. Gemma's
// tokenizer.json, the largest there is, has half of it.
const maxFile = 64 << 20

// A Checkpoint is an open folder or an open GGUF file. Its methods, Close aside,
// may be called from several goroutines at once.
type Checkpoint struct {
	name    string
	fsys    fs.FS               // nil for a GGUF file
	folder  *safetensors.Folder // nil for a GGUF file
	gguf    *gguf.File          // nil for a folder
	infos   []Info              // in ascending order of names
	tensors []quant.Tensor      // of the infos; of format Invalid where that is none
}

// Open opens the checkpoint at path: a folder, see OpenDir, or a GGUF file, see
// OpenGGUF.
func Open(path string) (*Checkpoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return OpenDir(path)
	}
	return OpenGGUF(path)
}

// OpenDir opens the folder at path and maps its tensors. A folder that holds one
// GGUF file and no safetensors files is that file. A path that does not exist is
// fs.ErrNotExist; a folder without config.json or with malformed tensor files is
// a *RejectedError.
func OpenDir(path string) (*Checkpoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &RejectedError{Path: path, Err: errors.New("is no folder; a checkpoint is a folder with config.json and safetensors files")}
	}
	file, err := ggufIn(path)
	switch {
	case err != nil:
		return nil, err
	case file != "":
		return OpenGGUF(filepath.Join(path, file))
	}
	return open(path, os.DirFS(path), true, func() (*safetensors.Folder, error) {
		return safetensors.OpenFolder(path)
	})
}

// OpenFiles opens the folder at path for its other files alone, whatever state its
// tensors are in: the checkpoint has none.
func OpenFiles(path string) *Checkpoint {
	return &Checkpoint{name: path, fsys: os.DirFS(path)}
}

// OpenFS opens the folder at the root of fsys and reads its tensors into memory.
// It is called name in errors.
func OpenFS(fsys fs.FS, name string) (*Checkpoint, error) {
	return open(name, fsys, false, func() (*safetensors.Folder, error) {
		return safetensors.ReadFolder(fsys)
	})
}

// open opens the folder in fsys. The errors of openFolder name the folder
// already when named is set.
func open(name string, fsys fs.FS, named bool, openFolder func() (*safetensors.Folder, error)) (*Checkpoint, error) {
	c := &Checkpoint{name: name, fsys: fsys}
	switch _, err := fs.Stat(fsys, ConfigName); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &RejectedError{Path: name, Err: fmt.Errorf("no %s in %s", ConfigName, name), named: true}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	folder, err := openFolder()
	switch {
	case err != nil && ofFileSystem(err):
		return nil, err
	case err != nil:
		return nil, &RejectedError{Path: name, Err: err, named: named}
	}
	c.folder = folder
	if err := c.readTable(); err != nil {
		return nil, errors.Join(c.reject(err), folder.Close())
	}
	return c, nil
}

// ofFileSystem reports whether the system refused something, rather than a file
// having the wrong content.
func ofFileSystem(err error) bool {
	var path *fs.PathError
	var number syscall.Errno
	return errors.As(err, &path) || errors.As(err, &number)
}

func (c *Checkpoint) readTable() error {
	for _, name := range c.folder.Names() {
		stored, ok := c.folder.Tensor(name)
		file, _ := c.folder.File(name)
		if !ok || file == nil {
			return fmt.Errorf("tensor %s: listed, but not there", Show(name))
		}
		t, err := dtype.Parse(string(stored.DType))
		if err != nil {
			return fmt.Errorf("tensor %s: %w", Show(name), err)
		}
		c.tensors = append(c.tensors, quant.Tensor{Format: formatOf(t), Shape: stored.Shape, Data: stored.Data})
		c.infos = append(c.infos, Info{
			Name:  name,
			Type:  t.String(),
			Shape: stored.Shape,
			Bytes: int64(len(stored.Data)),
			File:  filepath.Base(file.Name()),
		})
	}
	return nil
}

// formatOf is the format of a safetensors type, Invalid for those that hold no
// weights by themselves.
func formatOf(t dtype.Type) quant.Format {
	switch t {
	case dtype.F32:
		return quant.F32
	case dtype.F16:
		return quant.F16
	case dtype.BF16:
		return quant.BF16
	}
	return quant.Invalid
}

// Name returns the path or name of the folder or file, as it was opened; of a
// file that was found in a folder, the path of the file.
func (c *Checkpoint) Name() string { return c.name }

// Tensors lists the stored tensors in ascending order of their names.
func (c *Checkpoint) Tensors() []Info { return slices.Clone(c.infos) }

// GGUF returns the file of a checkpoint that is one, whose metadata stand for the
// small files of a folder; nil for a folder. It is open as long as the checkpoint.
func (c *Checkpoint) GGUF() *gguf.File { return c.gguf }

// ReadFile reads one of the folder's other files, such as config.json. The error
// for an absent one wraps fs.ErrNotExist; a GGUF file has none. A file over 64
// MiB, or a name that is taken by something else than a file, is a
// *RejectedError.
func (c *Checkpoint) ReadFile(name string) ([]byte, error) {
	if c.fsys == nil {
		return nil, fmt.Errorf("%s: %w", c.name, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist})
	}
	// Asked before opening, which would wait at a pipe.
	info, err := fs.Stat(c.fsys, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, c.reject(fmt.Errorf("%s is no file", name))
	}
	f, err := c.fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if len(data) > maxFile {
		return nil, c.reject(fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20))
	}
	return data, nil
}

// Close ends the mapping, and with it every tensor that was bound.
func (c *Checkpoint) Close() error {
	c.infos, c.tensors = nil, nil
	if c.gguf != nil {
		return c.gguf.Close()
	}
	if c.folder == nil {
		return nil
	}
	return c.folder.Close()
}

func (c *Checkpoint) reject(err error) error { return &RejectedError{Path: c.name, Err: err} }
