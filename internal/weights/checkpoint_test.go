package weights_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/weights"
)

func TestOpenRejects(t *testing.T) {
	config := []byte("{}")
	whole := encode(t, tensors{"a": f32([]int{2}), "b": f32([]int{3})})
	const shard1, shard2 = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	for _, c := range []struct {
		name  string
		files map[string][]byte
		want  []string // in the text, beside the folder's name
	}{
		{"no config", map[string][]byte{"model.safetensors": whole}, []string{"no config.json in "}},
		{"empty folder", nil, []string{"no config.json in "}},
		{"no tensors", map[string][]byte{"config.json": config}, []string{"model.safetensors", "model.safetensors.index.json"}},
		{"tensors under another name",
			map[string][]byte{"config.json": config, "weights.safetensors": whole},
			[]string{"weights.safetensors"}},
		{"empty file", map[string][]byte{"config.json": config, "model.safetensors": nil}, []string{"model.safetensors"}},
		{"truncated",
			map[string][]byte{"config.json": config, "model.safetensors": whole[:len(whole)-1]},
			[]string{"model.safetensors", "a"}},
		{"index without its shard",
			map[string][]byte{
				"config.json": config, shard1: encode(t, tensors{"a": f32([]int{2})}),
				"model.safetensors.index.json": index(t, map[string]string{"a": shard1, "b": shard2}),
			},
			[]string{shard2, "tensor b"}},
		{"index that names the wrong shard",
			map[string][]byte{
				"config.json": config, shard1: encode(t, tensors{"a": f32(nil), "c": f32(nil)}), shard2: encode(t, tensors{"b": f32(nil)}),
				"model.safetensors.index.json": index(t, map[string]string{"a": shard2, "c": shard1}),
			},
			[]string{"tensor a", shard1}},
		{"index that is no JSON",
			map[string][]byte{"config.json": config, "model.safetensors.index.json": []byte("{")},
			[]string{"model.safetensors.index.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(name string, err error) {
				t.Helper()
				var rejected *weights.RejectedError
				if !errors.As(err, &rejected) {
					t.Fatalf("error %v, want a *RejectedError", err)
				}
				if rejected.Path != name {
					t.Errorf("path %q, want %q", rejected.Path, name)
				}
				if n := strings.Count(err.Error(), name); n == 0 || n > 1 && strings.HasPrefix(err.Error(), name+": "+name) {
					t.Errorf("the folder is named %d times: %v", n, err)
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q is not in %q", want, err)
					}
				}
			}
			dir := folder(t, c.files)
			_, err := weights.OpenDir(dir)
			check(dir, err)

			fsys := fstest.MapFS{}
			for name, data := range c.files {
				fsys[name] = &fstest.MapFile{Data: data}
			}
			_, err = weights.OpenFS(fsys, "the embedded one")
			check("the embedded one", err)
		})
	}
}

func TestOpenDirPaths(t *testing.T) {
	var rejected *weights.RejectedError
	dir := folder(t, map[string][]byte{"model.safetensors": encode(t, tensors{"a": f32(nil)})})

	_, err := weights.OpenDir(filepath.Join(dir, "absent"))
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &rejected) {
		t.Errorf("absent folder: %v, want fs.ErrNotExist and no rejection", err)
	}
	file := filepath.Join(dir, "model.safetensors")
	_, err = weights.OpenDir(file)
	if want := file + ": is no folder; a checkpoint is a folder with config.json and safetensors files"; !errors.As(err, &rejected) || err.Error() != want {
		t.Errorf("file: %v, want %q", err, want)
	}
}

func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := folder(t, map[string][]byte{"config.json": nil, "model.safetensors": encode(t, tensors{"a": f32(nil)})})
	if err := os.Chmod(filepath.Join(dir, "model.safetensors"), 0); err != nil {
		t.Fatal(err)
	}
	_, err := weights.OpenDir(dir)
	var rejected *weights.RejectedError
	if !errors.Is(err, fs.ErrPermission) || errors.As(err, &rejected) {
		t.Errorf("%v, want fs.ErrPermission and no rejection", err)
	}
}

// brokenFS fails with an error of the file system at one name.
type brokenFS struct {
	fs.FS
	name string
	err  error
}

func (b brokenFS) Open(name string) (fs.File, error) {
	if name == b.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
	}
	return b.FS.Open(name)
}

func TestFileSystemErrorsPassThrough(t *testing.T) {
	files := fstest.MapFS{
		"config.json":       {Data: []byte("{}")},
		"model.safetensors": {Data: encode(t, tensors{"a": f32(nil)})},
	}
	for _, name := range []string{"config.json", "model.safetensors", "model.safetensors.index.json"} {
		for _, broken := range []error{fs.ErrPermission, syscall.EIO} {
			_, err := weights.OpenFS(brokenFS{files, name, broken}, "it")
			var rejected *weights.RejectedError
			if !errors.Is(err, broken) || errors.As(err, &rejected) {
				t.Errorf("%v at %s: %v, want it passed through", broken, name, err)
			}
			if err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name %s", err, name)
			}
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := folder(t, map[string][]byte{
		"config.json":       []byte(`{"a":1}`),
		"model.safetensors": encode(t, tensors{"a": f32(nil)}),
		"large.json":        nil,
		"larger.json":       nil,
	})
	for name, size := range map[string]int64{"large.json": 64 << 20, "larger.json": 64<<20 + 1} {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	c := opened(t, dir)
	if c.Name() != dir {
		t.Errorf("Name() = %q, want %q", c.Name(), dir)
	}
	data, err := c.ReadFile("config.json")
	if err != nil || string(data) != `{"a":1}` {
		t.Errorf("config.json: %q, %v", data, err)
	}
	if data, err := c.ReadFile("large.json"); err != nil || len(data) != 64<<20 {
		t.Errorf("large.json: %d bytes, %v", len(data), err)
	}
	var rejected *weights.RejectedError
	if _, err := c.ReadFile("absent.json"); !errors.Is(err, fs.ErrNotExist) || errors.As(err, &rejected) || !strings.Contains(err.Error(), "absent.json") {
		t.Errorf("absent.json: %v", err)
	}
	for name, want := range map[string]string{
		"larger.json": dir + ": larger.json is larger than 64 MiB",
		"sub.json":    dir + ": sub.json is no file",
	} {
		if _, err := c.ReadFile(name); !errors.As(err, &rejected) || err.Error() != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := c.ReadFile("../config.json"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name outside of the folder: %v, want fs.ErrInvalid", err)
	}
}

func TestTensors(t *testing.T) {
	const shard1, shard2 = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	c := opened(t, folder(t, map[string][]byte{
		"config.json":                  []byte("{}"),
		shard1:                         encode(t, tensors{"b": f32([]int{2, 3}), "c": f32(nil)}),
		shard2:                         encode(t, tensors{"a": bf16(1, 2, 3)}),
		"model.safetensors.index.json": index(t, map[string]string{"b": shard1, "c": shard1, "a": shard2}),
	}))
	want := []weights.Info{
		{Name: "a", Type: "BF16", Shape: []int{3}, Bytes: 6, File: shard2},
		{Name: "b", Type: "F32", Shape: []int{2, 3}, Bytes: 24, File: shard1},
		{Name: "c", Type: "F32", Shape: []int{}, Bytes: 4, File: shard1},
	}
	if diff := cmp.Diff(want, c.Tensors()); diff != "" {
		t.Errorf("tensors (-want +got):\n%s", diff)
	}
}
