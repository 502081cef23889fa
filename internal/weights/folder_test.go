package weights_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/safetensors"
)

// tensors is the content of a safetensors file.
type tensors = map[string]safetensors.Tensor

// f32 makes a tensor of the given shape. It counts up from 1, or holds values.
func f32(shape []int, values ...float32) safetensors.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	var data []byte
	for i := range n {
		v := float32(i + 1)
		if values != nil {
			v = values[i]
		}
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return safetensors.Tensor{DType: safetensors.F32, Shape: shape, Data: data}
}

// bf16 makes a vector of bfloat16.
func bf16(values ...float32) safetensors.Tensor {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint16(data, dtype.ToBF16(v))
	}
	return safetensors.Tensor{DType: safetensors.BF16, Shape: []int{len(values)}, Data: data}
}

func encode(t testing.TB, content tensors) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, content, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// index makes a model.safetensors.index.json of tensor names and shards.
func index(t testing.TB, weightMap map[string]string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"weight_map": weightMap})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// folder writes files into a new folder.
func folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkpoint opens a folder with one file of the given tensors.
func checkpoint(t testing.TB, content tensors) *weights.Checkpoint {
	t.Helper()
	return opened(t, folder(t, map[string][]byte{
		"config.json":       []byte("{}"),
		"model.safetensors": encode(t, content),
	}))
}

func opened(t testing.TB, dir string) *weights.Checkpoint {
	t.Helper()
	c, err := weights.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}
