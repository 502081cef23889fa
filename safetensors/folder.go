package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The names that a checkpoint folder in the Hugging Face layout uses.
const (
	SingleName = "model.safetensors"
	IndexName  = "model.safetensors.index.json"
)

// Folder is a checkpoint folder: one file, or shards seen as one. Its methods,
// Close aside, may be called from several goroutines at once.
type Folder struct {
	files  []*File
	byName map[string]*File
}

// OpenFolder opens the checkpoint in the folder dir. Where there is a
// model.safetensors.index.json, the shards that it names are mapped; else the
// single model.safetensors.
//
// The index and the shards must agree: an absent shard, a tensor that its shard
// lacks, a tensor that two shards hold and a shard outside the folder are
// errors. A tensor that is in a shard but not in the index is there.
func OpenFolder(dir string) (*Folder, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("safetensors: %s: is not a folder", dir)
	}
	l := loader{
		fsys: os.DirFS(dir),
		path: func(name string) string { return filepath.Join(dir, name) },
		open: func(name string) (*File, error) { return Open(filepath.Join(dir, name)) },
	}
	return l.load(dir)
}

// ReadFolder is OpenFolder for the root of fsys, which it reads into memory:
// for checkpoints that are embedded in a program.
func ReadFolder(fsys fs.FS) (*Folder, error) {
	l := loader{
		fsys: fsys,
		path: func(name string) string { return name },
		open: func(name string) (*File, error) {
			data, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, fmt.Errorf("safetensors: %w", err)
			}
			return Parse(name, data)
		},
	}
	return l.load("the folder")
}

// loader is what differs between a folder on disk and one in an fs.FS.
type loader struct {
	fsys fs.FS
	path func(name string) string // for errors
	open func(name string) (*File, error)
}

func (l loader) load(where string) (*Folder, error) {
	info, err := fs.Stat(l.fsys, IndexName)
	switch {
	case err == nil:
		return l.loadShards(info)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, l.ofFile(IndexName, err)
	}
	_, err = fs.Stat(l.fsys, SingleName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, l.nothingFound(where)
	case err != nil:
		return nil, l.ofFile(SingleName, err)
	}
	f, err := l.open(SingleName)
	if err != nil {
		return nil, err
	}
	return join([]*File{f})
}

// ofFile puts the path into an error of the file system, which knows the name
// inside the folder alone.
func (l loader) ofFile(name string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = &fs.PathError{Op: of.Op, Path: l.path(name), Err: of.Err}
	}
	return fmt.Errorf("safetensors: %w", err)
}

// nothingFound says which other safetensors files there are, if any.
func (l loader) nothingFound(where string) error {
	others, err := fs.Glob(l.fsys, "*.safetensors")
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	text := fmt.Sprintf("safetensors: %s: holds neither %s nor %s", where, SingleName, IndexName)
	if len(others) > 0 {
		text += ", only " + strings.Join(others, ", ")
	}
	return errors.New(text)
}

func (l loader) loadShards(index fs.FileInfo) (*Folder, error) {
	fail := func(err error) error {
		return fmt.Errorf("safetensors: %s: %w", l.path(IndexName), err)
	}
	if !index.Mode().IsRegular() {
		return nil, fail(errors.New("is not a file"))
	}
	if index.Size() > maxHeader {
		return nil, fail(fmt.Errorf("index of %d bytes: the limit is %d", index.Size(), maxHeader))
	}
	raw, err := fs.ReadFile(l.fsys, IndexName)
	if err != nil {
		return nil, l.ofFile(IndexName, err)
	}
	placements, err := parseIndex(raw)
	if err != nil {
		return nil, fail(err)
	}
	if err := checkShardsExist(l.fsys, placements); err != nil {
		return nil, fail(err)
	}
	shards := map[string]*File{}
	var files []*File
	for _, shard := range shardsOf(placements) {
		f, err := l.open(shard)
		if err != nil {
			return nil, errors.Join(err, closeAll(files))
		}
		shards[shard] = f
		files = append(files, f)
	}
	folder, err := join(files)
	if err != nil {
		return nil, err
	}
	for _, p := range placements {
		if folder.byName[p.tensor] == shards[p.shard] {
			continue
		}
		err := fmt.Errorf("tensor %s is not in shard %s, where the index places it", label(p.tensor), p.shard)
		if other := folder.byName[p.tensor]; other != nil {
			err = fmt.Errorf("%w, but in %s", err, other.Name())
		}
		return nil, errors.Join(fail(err), folder.Close())
	}
	return folder, nil
}

// join makes one folder of files; on an error it closes them.
func join(files []*File) (*Folder, error) {
	d := &Folder{files: files, byName: map[string]*File{}}
	for _, f := range files {
		for _, name := range f.Names() {
			if other := d.byName[name]; other != nil {
				err := fmt.Errorf("safetensors: %s: tensor %s: is in %s too", f.Name(), label(name), other.Name())
				return nil, errors.Join(err, closeAll(files))
			}
			d.byName[name] = f
		}
	}
	return d, nil
}

// Names lists the tensors of all files by rising name.
func (d *Folder) Names() []string { return slices.Sorted(maps.Keys(d.byName)) }

// Tensor returns the tensor called name, and whether there is one. Its Data is
// a view that ends with Close.
func (d *Folder) Tensor(name string) (Tensor, bool) {
	f, ok := d.byName[name]
	if !ok {
		return Tensor{}, false
	}
	return f.Tensor(name)
}

// File returns the file that holds the tensor called name, and whether there is
// one. It is closed with the folder.
func (d *Folder) File(name string) (*File, bool) {
	f, ok := d.byName[name]
	return f, ok
}

// Files lists the open files, in the order in which the index first names them.
func (d *Folder) Files() []*File { return slices.Clone(d.files) }

// Close closes every file. Closing again does nothing.
func (d *Folder) Close() error {
	d.byName = nil
	return closeAll(d.files)
}

func closeAll(files []*File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
