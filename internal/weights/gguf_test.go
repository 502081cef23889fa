package weights_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/weights"
)

// ggufFile is a GGUF file with a matrix in blocks, a vector, and a type that holds
// no weights.
func ggufFile(t *testing.T, metadata ...gguf.KeyValue) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	err := gguf.WriteFile(path, append(metadata, gguf.KeyValue{Key: "general.architecture", Value: "x"}), []gguf.Tensor{
		{Name: "m", Type: gguf.Q8_0, Dims: []int{64, 3, 2}, Data: make([]byte, 6*2*34)},
		{Name: "a", Type: gguf.F32, Dims: []int{2}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 64}},
		{Name: "i", Type: gguf.I32, Dims: []int{1}, Data: make([]byte, 4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOpenGGUF(t *testing.T) {
	dir := folder(t, map[string][]byte{"no suffix": ggufFile(t), "README.md": []byte("GG"), "config.json": []byte("{}")})
	file := filepath.Join(dir, "no suffix")
	for _, path := range []string{dir, file} {
		c, err := weights.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != file || c.GGUF() == nil {
			t.Errorf("%s: opened %s", path, c.Name())
		}
		want := []weights.Info{
			{Name: "a", Type: "F32", Shape: []int{2}, Bytes: 8, File: "no suffix"},
			{Name: "i", Type: "I32", Shape: []int{1}, Bytes: 4, File: "no suffix"},
			{Name: "m", Type: "Q8_0", Shape: []int{2, 3, 64}, Bytes: 408, File: "no suffix"},
		}
		if diff := cmp.Diff(want, c.Tensors()); diff != "" {
			t.Errorf("tensors (-want +got):\n%s", diff)
		}
		b, err := c.Bind([]weights.Slot{{Name: "matrix", Aliases: []string{"m"}, Shape: []int{2, 3, 64}}, {Name: "a", Shape: []int{2}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m := b.Tensor("matrix"); m.Format != quant.Q8_0 || len(m.Data) != 408 {
			t.Errorf("matrix: %v, %d bytes", m.Format, len(m.Data))
		}
		_, err = c.Bind([]weights.Slot{{Name: "i", Shape: []int{1}}, {Name: "m", Shape: []int{2, 3, 64}, Formats: []quant.Format{quant.Q4_0}}}, nil)
		if err == nil || !strings.Contains(err.Error(), "i in no suffix: type I32, expected F32 or BF16 or F16\n") ||
			!strings.Contains(err.Error(), "m in no suffix: type Q8_0, expected Q4_0") {
			t.Errorf("binding what does not fit: %v", err)
		}
		if _, err := c.ReadFile("config.json"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file beside it: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenGGUFRefuses(t *testing.T) {
	good := ggufFile(t)
	for _, c := range []struct {
		name  string
		files map[string][]byte
		open  string // below the folder
		want  string // with the folder as DIR
	}{
		{"another file", map[string][]byte{"x": []byte("text")}, "x",
			"DIR/x: is a file, but not a GGUF file; a model is a GGUF file, or the folder that holds its config.json"},
		{"by its name alone", map[string][]byte{"x.gguf": []byte("GGML1234")}, "x.gguf", `gguf: DIR/x.gguf: at byte 0: magic is "GGML", not "GGUF": not a GGUF file`},
		{"cut", map[string][]byte{"x": good[:30]}, "x", "gguf: DIR/x: "},
		{"cut, in its folder", map[string][]byte{"x": good[:30]}, "", "gguf: DIR/x: "},
		{"several", map[string][]byte{"x": good, "y.gguf": good}, "", "DIR: holds several GGUF files, x and y.gguf: name one of them"},
		{"beside safetensors", map[string][]byte{"x.gguf": good, "model.safetensors": nil}, "", "no config.json in DIR"},
		{"one of two parts", map[string][]byte{"x": ggufFile(t, gguf.KeyValue{Key: "split.count", Value: uint16(2)})}, "x",
			"gguf: DIR/x: key split.count: a model in 2 files is not supported"},
		{"a count that is none", map[string][]byte{"x": ggufFile(t, gguf.KeyValue{Key: "split.count", Value: "2"})}, "x",
			"gguf: DIR/x: key split.count: is of type string, not a whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files)
			_, err := weights.Open(filepath.Join(dir, c.open))
			var rejected *weights.RejectedError
			if !errors.As(err, &rejected) {
				t.Fatalf("error %v, want a rejection", err)
			}
			if got := strings.ReplaceAll(err.Error(), dir, "DIR"); !strings.HasPrefix(got, c.want) {
				t.Errorf("error %q, want %q", got, c.want)
			}
		})
	}
	if _, err := weights.Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}
