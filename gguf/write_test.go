package gguf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// one is a tensor of bytes.
func one(name, data string) Tensor {
	return Tensor{Name: name, Type: I8, Dims: []int{len(data)}, Data: []byte(data)}
}

func TestWriteIsCanonical(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, []KeyValue{{"k", uint8(7)}}, []Tensor{one("b", "bbb"), {Name: "a", Type: F16, Dims: []int{1, 2}, Data: []byte("aaaa")}})
	if err != nil {
		t.Fatal(err)
	}
	want := append(putText(header(2, 1), "k"), 0, 0, 0, 0, 7)
	want = appendInfo(want, "b", 1, []uint64{3}, I8, 0)
	want = appendInfo(want, "a", 2, []uint64{1, 2}, F16, 32)
	want = append(want, make([]byte, 128-len(want))...)
	want = append(append(want, "bbb"...), make([]byte, 29)...)
	want = append(append(want, "aaaa"...), make([]byte, 28)...)
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("got  %q\nwant %q", b.Bytes(), want)
	}

	b.Reset()
	if err := Write(&b, nil, nil); err != nil {
		t.Fatal(err)
	}
	if want := append(header(0, 0), make([]byte, 8)...); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("empty: got %q, want %q", b.Bytes(), want)
	}
}

func TestWriteRefuses(t *testing.T) {
	tests := []struct {
		metadata []KeyValue
		tensors  []Tensor
		want     string
	}{
		{nil, []Tensor{{Name: "w", Type: F32, Dims: []int{2}, Data: make([]byte, 7)}}, "gguf: tensor w: F32 [2] has 8 bytes, not 7"},
		{nil, []Tensor{{Name: "w", Type: 5, Dims: []int{2}}}, "tensor w: tensor type 5 (Q4_3) was removed from the format"},
		{nil, []Tensor{{Name: "w", Type: F32}}, "tensor w: dimension count 0 is not 1 to 4"},
		{nil, []Tensor{{Name: "w", Type: F32, Dims: []int{-1}}}, "tensor w: dimension 0 is -1"},
		{nil, []Tensor{{Name: "w", Type: Q8_0, Dims: []int{33}}}, "tensor w: row of 33 elements"},
		{nil, []Tensor{one("w", "x"), one("w", "x")}, "duplicate tensor w"},
		{nil, []Tensor{one("", "x")}, "tensor 0: the name is empty"},
		{nil, []Tensor{one("a\xff", "x")}, `tensor 0: name "a\xff" is not valid UTF-8`},
		{[]KeyValue{{"", uint8(1)}}, nil, "metadata key 0: the name is empty"},
		{[]KeyValue{{"k", uint8(1)}, {"k", uint8(1)}}, nil, "duplicate key k"},
		{[]KeyValue{{"k", 1}}, nil, "key k: the format has no value of type int"},
		{[]KeyValue{{"k", nil}}, nil, "key k: the format has no value of type <nil>"},
		{[]KeyValue{{"k", [][]uint8{}}}, nil, "key k: the format has no value of type [][]uint8"},
		{[]KeyValue{{alignmentKey, uint32(0)}}, nil, "key general.alignment: alignment 0 is not a power of two"},
		{[]KeyValue{{alignmentKey, int32(32)}}, nil, "key general.alignment: alignment type int32 is not uint32"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		err := Write(&b, tt.metadata, tt.tensors)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
		if b.Len() > 0 {
			t.Errorf("%q: %d bytes were written", tt.want, b.Len())
		}
	}
}

// streamed makes the tensors give their data through Content, in pieces.
func streamed(tensors []Tensor) []Tensor {
	out := make([]Tensor, len(tensors))
	for i, x := range tensors {
		data := x.Data
		x.Data = nil
		x.Content = func(w io.Writer) error {
			for part := range slicesOf(data, 7) {
				if _, err := w.Write(part); err != nil {
					return err
				}
			}
			return nil
		}
		out[i] = x
	}
	return out
}

func slicesOf(data []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			part := data[:min(n, len(data))]
			if !yield(part) {
				return
			}
			data = data[len(part):]
		}
	}
}

func TestContent(t *testing.T) {
	c := everything()
	want := encode(t, c)
	if got := encode(t, content{c.Metadata, streamed(c.Tensors)}); !bytes.Equal(got, want) {
		t.Error("streamed tensors give other bytes")
	}
	failed := errors.New("no more weights")
	tests := []struct {
		content func(w io.Writer) error
		want    string
	}{
		{func(w io.Writer) error { _, err := w.Write(make([]byte, 9)); return err }, "gguf: tensor w: the content is longer than the tensor"},
		{func(w io.Writer) error { _, err := w.Write(make([]byte, 6)); return err }, "gguf: tensor w: F32 [2] has 8 bytes, but the content ended 2 before"},
		{func(io.Writer) error { return failed }, "gguf: tensor w: no more weights"},
	}
	for _, tt := range tests {
		err := Write(io.Discard, nil, []Tensor{{Name: "w", Type: F32, Dims: []int{2}, Content: tt.content}})
		if err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// anyValue draws a value of every kind.
func anyValue() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Uint8().AsAny(), rapid.Int8().AsAny(), rapid.Uint16().AsAny(), rapid.Int16().AsAny(),
		rapid.Uint32().AsAny(), rapid.Int32().AsAny(), rapid.Uint64().AsAny(), rapid.Int64().AsAny(),
		rapid.Float32().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.SliceOfN(rapid.Uint8(), 0, 4).AsAny(), rapid.SliceOfN(rapid.Int8(), 0, 4).AsAny(),
		rapid.SliceOfN(rapid.Uint16(), 0, 4).AsAny(), rapid.SliceOfN(rapid.Int16(), 0, 4).AsAny(),
		rapid.SliceOfN(rapid.Uint32(), 0, 4).AsAny(), rapid.SliceOfN(rapid.Int32(), 0, 4).AsAny(),
		rapid.SliceOfN(rapid.Uint64(), 0, 4).AsAny(), rapid.SliceOfN(rapid.Int64(), 0, 4).AsAny(),
		rapid.SliceOfN(rapid.Float32(), 0, 4).AsAny(), rapid.SliceOfN(rapid.Float64(), 0, 4).AsAny(),
		rapid.SliceOfN(rapid.Bool(), 0, 4).AsAny(), rapid.SliceOfN(rapid.String(), 0, 4).AsAny(),
	)
}

func anyTensor() *rapid.Generator[Tensor] {
	return rapid.Custom(func(t *rapid.T) Tensor {
		x := Tensor{Type: rapid.SampledFrom([]Type{F32, F16, BF16, F64, I8, Q4_0, Q8_0, Q4_K, MXFP4, NVFP4}).Draw(t, "type")}
		x.Dims = []int{x.Type.BlockSize() * rapid.IntRange(1, 3).Draw(t, "blocks")}
		x.Dims = append(x.Dims, rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3).Draw(t, "dims")...)
		n, err := x.Type.Bytes(x.Dims)
		if err != nil {
			t.Fatal(err)
		}
		// One drawn byte stands for the tensor; its bytes differ from one another.
		x.Data = make([]byte, n)
		first := rapid.Byte().Draw(t, "data")
		for i := range x.Data {
			x.Data[i] = first + byte(i)*31
		}
		return x
	})
}

func TestWriteThenParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want content
		for i, v := range rapid.SliceOfN(anyValue(), 0, 6).Draw(t, "values") {
			want.Metadata = append(want.Metadata, KeyValue{fmt.Sprintf("%d%s", i, rapid.String().Draw(t, "key")), v})
		}
		alignment := 32
		if shift := rapid.IntRange(-1, 8).Draw(t, "alignment"); shift >= 0 {
			alignment = 1 << shift
			want.Metadata = append(want.Metadata, KeyValue{alignmentKey, uint32(alignment)})
		}
		for i, x := range rapid.SliceOfN(anyTensor(), 0, 5).Draw(t, "tensors") {
			x.Name = fmt.Sprintf("%d%s", i, rapid.String().Draw(t, "name"))
			want.Tensors = append(want.Tensors, x)
		}
		var b bytes.Buffer
		if err := Write(&b, want.Metadata, want.Tensors); err != nil {
			t.Fatal(err)
		}
		f, err := Parse("f", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(want, contentOf(f)); d != "" {
			t.Fatal(d)
		}
		if f.Alignment() != alignment || b.Len()%alignment != 0 {
			t.Fatalf("alignment %d in %d bytes, want %d", f.Alignment(), b.Len(), alignment)
		}
		var again bytes.Buffer
		if err := Write(&again, f.Metadata(), f.Tensors()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Fatal("written again with other bytes")
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
	path := filepath.Join(dir, "m.gguf")
	for _, data := range []string{"first", "second"} {
		tensors := []Tensor{one("w", data)}
		if err := WriteFile(path, nil, tensors); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, dir, "m.gguf", string(encode(t, content{nil, tensors})))
	}
}

func TestWriteFileInTheWorkingFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	tensors := []Tensor{one("w", "here")}
	if err := WriteFile("m.gguf", nil, tensors); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, dir, "m.gguf", string(encode(t, content{nil, tensors})))
}

// TestFailedWriteLeavesNothing lets the write fail before, within and after the
// content.
func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.gguf")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}

	err := WriteFile(path, nil, []Tensor{{Name: "w", Type: F32}})
	if err == nil || !strings.Contains(err.Error(), path+": tensor w:") {
		t.Errorf("a bad tensor: %v", err)
	}
	onlyFile(t, dir, "m.gguf", "old")

	full := errors.New("no space left")
	err = WriteFile(path, nil, []Tensor{{Name: "w", Type: I8, Dims: []int{4 << 20}, Content: func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 3<<20)); err != nil {
			return err
		}
		return full
	}}})
	if !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	onlyFile(t, dir, "m.gguf", "old")

	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(folder, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(folder, nil, []Tensor{one("w", "x")}); err == nil {
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
	tensors := append([]Tensor{one("a", "aaaa")}, streamed([]Tensor{one("b", "bbbbbbbbb")})...)
	size := len(encode(t, content{nil, tensors}))
	for n := range size {
		if err := Write(&failAfter{n}, nil, tensors); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d of %d bytes: %v", n, size, err)
		}
	}
	if err := Write(&failAfter{size}, nil, tensors); err != nil {
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
	err = Write(f, nil, []Tensor{one("a", "aaaa")})
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
}
