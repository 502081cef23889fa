package safetensors

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWriteIsCanonical(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, map[string]Tensor{
		"b":   {DType: U8, Shape: []int{3}, Data: []byte("bbb")},
		"a":   {DType: U8, Shape: []int{1}, Data: []byte("a")},
		"z":   {DType: F32, Shape: nil, Data: []byte("zzzz")},
		"é\"": {DType: BF16, Shape: []int{0, 2}},
	}, map[string]string{"y": "2", "x": "1"})
	if err != nil {
		t.Fatal(err)
	}
	head := `{"__metadata__":{"x":"1","y":"2"},` +
		`"z":{"dtype":"F32","shape":[],"data_offsets":[0,4]},` +
		`"é\"":{"dtype":"BF16","shape":[0,2],"data_offsets":[4,4]},` +
		`"a":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},` +
		`"b":{"dtype":"U8","shape":[3],"data_offsets":[5,8]}}`
	head += strings.Repeat(" ", (8-len(head)%8)%8)
	if want := string(build(head, "zzzzabbb")); b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}

	b.Reset()
	if err := Write(&b, nil, map[string]string{}); err != nil {
		t.Fatal(err)
	}
	if want := string(build("{}      ", "")); b.String() != want {
		t.Errorf("empty: got %q, want %q", b.String(), want)
	}
}

func TestWriteRefuses(t *testing.T) {
	tests := []struct {
		name     string
		tensor   Tensor
		metadata map[string]string
		want     string
	}{
		{"w", Tensor{DType: F32, Shape: []int{2}, Data: make([]byte, 7)}, nil, "safetensors: tensor w: shape [2] of F32 is 8 bytes, not 7"},
		{"w", Tensor{DType: "F7"}, nil, `tensor w: unknown dtype "F7"`},
		{"w", Tensor{DType: U8, Shape: []int{-1}}, nil, "negative dimension"},
		{"__metadata__", one("x"), nil, "the name is reserved"},
		{"a\xff", one("x"), nil, "the name is not valid UTF-8"},
		{"w", one("x"), map[string]string{"k": "\xff"}, "__metadata__ k: not valid UTF-8"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		err := Write(&b, map[string]Tensor{tt.name: tt.tensor}, tt.metadata)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
		if b.Len() > 0 {
			t.Errorf("%q: %d bytes were written", tt.want, b.Len())
		}
	}
}

func TestWriteThenParse(t *testing.T) {
	types := []DType{BOOL, F4, F6E2M3, U8, I8, F8E4M3, F8E8M0, I16, F16, BF16, I32, F32, I64, F64, C64}
	rapid.Check(t, func(t *rapid.T) {
		want := content{
			Tensors:  map[string]Tensor{},
			Metadata: rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "metadata"),
		}
		for range rapid.IntRange(0, 6).Draw(t, "tensors") {
			x := Tensor{
				DType: rapid.SampledFrom(types).Draw(t, "dtype"),
				Shape: append(rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(t, "shape"), 4),
			}
			n := x.DType.Bits()
			for _, d := range x.Shape {
				n *= d
			}
			x.Data = rapid.SliceOfN(rapid.Byte(), n/8, n/8).Draw(t, "data")
			want.Tensors[rapid.String().Draw(t, "name")] = x
		}
		var b bytes.Buffer
		if err := Write(&b, want.Tensors, want.Metadata); err != nil {
			t.Fatal(err)
		}
		f, err := Parse("f", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got := content{Tensors: map[string]Tensor{}, Metadata: f.Metadata()}
		for _, name := range f.Names() {
			got.Tensors[name], _ = f.Tensor(name)
		}
		if d := diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

// onlyFile fails unless dir holds exactly the file name with this content.
func onlyFile(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the folder holds %v", entries)
	}
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
		t.Errorf("content %q, %v; want %q", got, err, content)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	for _, data := range []string{"first", "second"} {
		tensors := map[string]Tensor{"w": one(data)}
		if err := WriteFile(path, tensors, nil); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, dir, "m.safetensors", encode(t, tensors))
	}
}

func TestWriteFileInTheWorkingFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	tensors := map[string]Tensor{"w": one("here")}
	if err := WriteFile("m.safetensors", tensors, nil); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, dir, "m.safetensors", encode(t, tensors))
}

// TestFailedWriteLeavesNothing lets the write fail before, within and after the
// content.
func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}

	err := WriteFile(path, map[string]Tensor{"w": {DType: F32}}, nil)
	if err == nil || !strings.Contains(err.Error(), path+": tensor w:") {
		t.Errorf("a bad tensor: %v", err)
	}
	onlyFile(t, dir, "m.safetensors", "old")

	full := errors.New("no space left")
	err = writeAtomic(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 3<<20)); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	onlyFile(t, dir, "m.safetensors", "old")

	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(folder, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(folder, map[string]Tensor{"w": one("x")}, nil); err == nil {
		t.Error("a folder was overwritten")
	}
	if entries, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(entries) != 1 {
		t.Errorf("beside the folder: %v, %v", entries, err)
	}

	if err := WriteFile(filepath.Join(dir, "absent", "m"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent folder: %v", err)
	}
}

// failAfter accepts n bytes.
type failAfter struct{ n int }

func (w *failAfter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return w.n, io.ErrShortWrite
	}
	w.n -= len(p)
	return len(p), nil
}

func TestWriteReportsEveryFailedWrite(t *testing.T) {
	tensors := map[string]Tensor{"a": one("aaaa"), "b": one("bbbb")}
	size := len(encode(t, tensors))
	for n := range size {
		if err := Write(&failAfter{n}, tensors, nil); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d of %d bytes: %v", n, size, err)
		}
	}
	if err := Write(&failAfter{size}, tensors, nil); err != nil {
		t.Error(err)
	}
}

func TestWriteToAFullDevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is there on Linux only")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	err = Write(f, map[string]Tensor{"a": one("aaaa")}, nil)
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
}

// Content gives the bytes of Data, and not one more or less.
func TestWriteContent(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6}
	var want bytes.Buffer
	if err := Write(&want, map[string]Tensor{"a": {DType: U8, Shape: []int{2, 3}, Data: data}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		parts [][]byte
		err   string
	}{
		{[][]byte{data[:2], data[2:]}, ""},
		{[][]byte{data[:2]}, "safetensors: tensor a: the content ended 4 of 6 bytes before the end"},
		{[][]byte{data, data[:1]}, "safetensors: tensor a: the content is longer than the tensor"},
	} {
		var got bytes.Buffer
		err := Write(&got, map[string]Tensor{"a": {DType: U8, Shape: []int{2, 3}, Content: func(w io.Writer) error {
			for _, p := range c.parts {
				if _, err := w.Write(p); err != nil {
					return err
				}
			}
			return nil
		}}}, nil)
		switch {
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("error %v, want %s", err, c.err)
		case c.err == "" && (err != nil || !bytes.Equal(got.Bytes(), want.Bytes())):
			t.Errorf("error %v, bytes %q, want %q", err, got.Bytes(), want.Bytes())
		}
	}
}
