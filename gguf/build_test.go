package gguf

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// header is the beginning of a file of version 3.
func header(tensors, keys uint64) []byte {
	b := append([]byte(magic), 3, 0, 0, 0)
	return putU64(putU64(b, tensors), keys)
}

// appendInfo appends the description of a tensor; said is the dimension count.
func appendInfo(b []byte, name string, said uint32, dims []uint64, typ Type, offset uint64) []byte {
	b = putU32(putText(b, name), said)
	for _, d := range dims {
		b = putU64(b, d)
	}
	return putU64(putU32(b, uint32(typ)), offset)
}

// oneTensor is a file of one tensor and n bytes of data.
func oneTensor(name string, said uint32, dims []uint64, typ Type, offset uint64, n int) []byte {
	b := appendInfo(header(1, 0), name, said, dims, typ, offset)
	b = append(b, make([]byte, padding(uint64(len(b)), defaultAlignment))...)
	return append(b, make([]byte, n)...)
}

// oneKey is a file of one key; rest is its value with the type in front.
func oneKey(key string, rest ...byte) []byte { return append(putText(header(0, 1), key), rest...) }

// content is everything that a file says.
type content struct {
	Metadata []KeyValue
	Tensors  []Tensor
}

func contentOf(f *File) content { return content{f.Metadata(), f.Tensors()} }

func diff(want, got content) string {
	// Megabytes of weights are compared as a whole, not element by element.
	filled := func(a, b []byte) bool { return len(a) > 0 || len(b) > 0 }
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs(), cmp.FilterValues(filled, cmp.Comparer(bytes.Equal)))
}

func encode(t testing.TB, c content) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c.Metadata, c.Tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parse(t testing.TB, raw []byte) *File {
	t.Helper()
	f, err := Parse("f", raw)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// allocated is the number of bytes that do allocates on the heap, kept or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
