package badinput

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/fixtures"
)

// TestMalformedGGUF runs every malformed file of the fixtures. The others are
// sound files of no model.
func TestMalformedGGUF(t *testing.T) {
	dir := fixtures.Dir(t, "formats/bad-gguf")
	data, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.gguf"))
	if err != nil || !json.Valid(data) || len(paths) == 0 {
		t.Fatalf("%d cases, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"run", "inspect"} {
				args := []string{command, path}
				if command == "run" {
					args = append(args, "hi")
				}
				r := fresco(t, nil, args...)
				if r.code != 3 || !strings.Contains(r.stderr, path) {
					t.Errorf("%s: exit code %d, standard error:\n%s", command, r.code, r.stderr)
				}
			}
		})
	}
}

// writeGGUF writes a changed copy of the repository's GGUF model.
func writeGGUF(t *testing.T, change func(tensors []gguf.Tensor) []gguf.Tensor) string {
	t.Helper()
	f, err := gguf.Open(filepath.Join(fixtures.Root(), "testdata", "fixtures", "formats", "gguf", "tiny-mixed.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := gguf.WriteFile(path, f.Metadata(), change(f.Tensors())); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGGUF(t *testing.T) {
	zeros := func(name string, dims ...int) gguf.Tensor {
		n := 4
		for _, d := range dims {
			n *= d
		}
		return gguf.Tensor{Name: name, Type: gguf.F32, Dims: dims, Data: make([]byte, n)}
	}
	for _, c := range []struct {
		name   string
		change func(tensors []gguf.Tensor) []gguf.Tensor
		want   want
	}{
		{"sound", func(x []gguf.Tensor) []gguf.Tensor { return x }, want{answer: true}},
		{"vision and audio", func(x []gguf.Tensor) []gguf.Tensor {
			return append(x, zeros("v.blk.0.attn_q.weight", 8, 8), zeros("v.blk.0.attn_k.weight", 8, 8), zeros("a.conv.weight", 3, 8))
		}, want{answer: true, notes: []string{
			"note: vision tower: set aside, not used (tensors: 2)", "note: audio tower: set aside, not used (tensors: 1)",
		}}},
		{"no self-conditioning", func(x []gguf.Tensor) []gguf.Tensor {
			return slices.DeleteFunc(x, func(t gguf.Tensor) bool { return t.Name == "self_cond_up.weight" })
		}, want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing model.decoder.self_conditioning.up_proj.weight (self_cond_up.weight in a GGUF file)"}},
		{"a stray tensor", func(x []gguf.Tensor) []gguf.Tensor { return append(x, zeros("stray", 2)) },
			want{answer: true, notes: []string{"note: 1 surplus tensor is not used: stray"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := writeGGUF(t, c.change)
			for _, model := range []string{path, filepath.Dir(path)} { // the file, and the folder that holds nothing else
				c.want.check(t, fresco(t, nil, slices.Concat([]string{"run", model}, quick, []string{"hi"})...), path)
				if seen := fresco(t, nil, "inspect", model); seen.code != c.want.code {
					t.Errorf("inspect: exit code %d, want %d; standard error:\n%s", seen.code, c.want.code, seen.stderr)
				}
			}
		})
	}
}
