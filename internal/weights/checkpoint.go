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

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/tensor"
	"github.com/frescolm/fresco/safetensors"
)

// ConfigName is the file that every checkpoint folder has.
const ConfigName = "config.json"

// maxFile is the size up to which ReadFile reads a file, in bytes. Gemma's
// tokenizer.json, the largest there is, has half of it.
const maxFile = 64 << 20

// A Checkpoint is an open folder. Its methods, Close aside, may be called from
// several goroutines at once.
type Checkpoint struct {
	name    string
	fsys    fs.FS
	folder  *safetensors.Folder
	infos   []Info          // in ascending order of names
	tensors []tensor.Tensor // of the infos
}

// OpenDir opens the folder at path and maps its tensors. A path that does not
// exist is fs.ErrNotExist; a folder without config.json or with malformed
// tensor files is a *RejectedError.
func OpenDir(path string) (*Checkpoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &RejectedError{Path: path, Err: errors.New("is no folder; a checkpoint is a folder with config.json and safetensors files")}
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
		c.tensors = append(c.tensors, tensor.Tensor{DType: t, Shape: stored.Shape, Data: stored.Data})
		c.infos = append(c.infos, Info{
			Name:  name,
			DType: t,
			Shape: stored.Shape,
			Bytes: int64(len(stored.Data)),
			File:  filepath.Base(file.Name()),
		})
	}
	return nil
}

// Name returns the folder's path or name, as it was opened.
func (c *Checkpoint) Name() string { return c.name }

// Tensors lists the stored tensors in ascending order of their names.
func (c *Checkpoint) Tensors() []Info { return slices.Clone(c.infos) }

// ReadFile reads one of the folder's other files, such as config.json. The error
// for an absent one wraps fs.ErrNotExist. A file over 64 MiB, or a name that is
// taken by something else than a file, is a *RejectedError.
func (c *Checkpoint) ReadFile(name string) ([]byte, error) {
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
	if c.folder == nil {
		return nil
	}
	return c.folder.Close()
}

func (c *Checkpoint) reject(err error) error { return &RejectedError{Path: c.name, Err: err} }
