package safetensors

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// build makes a file from the text of its header and its data.
func build(header, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// one is a tensor of bytes.
func one(data string) Tensor {
	return Tensor{DType: U8, Shape: []int{len(data)}, Data: []byte(data)}
}

// content is everything that a file says.
type content struct {
	Tensors  map[string]Tensor
	Metadata map[string]string
}

func contentOf(t testing.TB, f *File) content {
	t.Helper()
	c := content{Tensors: map[string]Tensor{}, Metadata: f.Metadata()}
	for _, name := range f.Names() {
		x, ok := f.Tensor(name)
		if !ok {
			t.Fatalf("%s is listed but absent", name)
		}
		c.Tensors[name] = x
	}
	return c
}

func diff(want, got content) string {
	// Megabytes of weights are compared as a whole, not element by element.
	filled := func(a, b []byte) bool { return len(a) > 0 || len(b) > 0 }
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.FilterValues(filled, cmp.Comparer(bytes.Equal)))
}
