package diffusion

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/safetensors"
)

// A goldenIndex is cases.json of the folder text.
type goldenIndex struct {
	TensorsFolder     string       `json:"tensors_folder"`
	CheckpointsFolder string       `json:"checkpoints_folder"`
	Cases             []goldenCase `json:"cases"`

	dir  string
	open map[string]*safetensors.File
}

type goldenCase struct {
	Name       string                     `json:"name"`
	Checkpoint string                     `json:"checkpoint"`
	Kind       string                     `json:"kind"`
	File       string                     `json:"file"`
	Prefix     string                     `json:"prefix"`
	Tensors    map[string]json.RawMessage `json:"tensors"`
	Tolerance  map[string]any             `json:"tolerance"`
	Inputs     json.RawMessage            `json:"inputs"`
}

// kinds are those of the folder's README. Which test takes a kind: "rules" are
// TestGoldenSampler's, "trace" TestGoldenTraceDecisions', "model" those of the
// packages that run the model.
var kinds = map[string]string{
	"accept": "rules", "temperature": "rules", "stop": "rules", "finalize": "rules",
	"trace":  "trace",
	"encode": "model", "encode_chunked": "model", "decode": "model", "continue": "model", "batch": "model", "training": "model",
}

// eachGolden runs test on every case of the given sort, and fails on a kind that
// nobody knows and when there is no case.
func eachGolden(t *testing.T, sort string, test func(*testing.T, *goldenIndex, goldenCase)) {
	index := readGoldenIndex(t)
	count := 0
	for _, c := range index.Cases {
		known, ok := kinds[c.Kind]
		if !ok {
			t.Errorf("case %s has the unknown kind %q", c.Name, c.Kind)
		}
		if known == sort {
			count++
			t.Run(c.Name, func(t *testing.T) { test(t, index, c) })
		}
	}
	if count == 0 {
		t.Errorf("no case for this test among the %d of %s", len(index.Cases), index.dir)
	}
}

func readGoldenIndex(t *testing.T) *goldenIndex {
	t.Helper()
	index := &goldenIndex{dir: fixtures.Dir(t, "text"), open: map[string]*safetensors.File{}}
	readJSON(t, filepath.Join(index.dir, "cases.json"), index)
	t.Cleanup(func() {
		for _, file := range index.open {
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return index
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func (c goldenCase) readInputs(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(c.Inputs, into); err != nil {
		t.Fatalf("inputs: %v", err)
	}
}

// tolerance is the number under key; cases whose floats need not match have a
// text there and fail the test that asks.
func (c goldenCase) tolerance(t *testing.T, key string) float64 {
	t.Helper()
	v, ok := c.Tolerance[key].(float64)
	if !ok {
		t.Fatalf("no tolerance for %q: %v", key, c.Tolerance)
	}
	return v
}

func (x *goldenIndex) tensor(t *testing.T, c goldenCase, key string, want safetensors.DType) safetensors.Tensor {
	t.Helper()
	path := filepath.Join(x.dir, x.TensorsFolder, c.File)
	if filepath.Ext(path) == "" {
		path += ".safetensors"
	}
	file := x.open[path]
	if file == nil {
		var err error
		if file, err = safetensors.Open(path); err != nil {
			t.Fatal(err)
		}
		x.open[path] = file
	}
	tensor, ok := file.Tensor(c.Prefix + key)
	if !ok {
		t.Fatalf("%s has no tensor %q", path, c.Prefix+key)
	}
	if tensor.DType != want {
		t.Fatalf("tensor %q is %s, want %s", c.Prefix+key, tensor.DType, want)
	}
	return tensor
}

// array is a row-major tensor of a case.
type array[T any] struct {
	shape []int
	data  []T
}

// at returns the sub-array at the given leading indices.
func (a array[T]) at(index ...int) []T {
	offset, size := 0, len(a.data)
	for axis, i := range index {
		size /= a.shape[axis]
		offset += i * size
	}
	return a.data[offset : offset+size]
}

func (x *goldenIndex) ids(t *testing.T, c goldenCase, key string) array[int32] {
	t.Helper()
	tensor := x.tensor(t, c, key, safetensors.I32)
	return array[int32]{tensor.Shape, words(tensor.Data, func(w uint32) int32 { return int32(w) })}
}

func (x *goldenIndex) floats(t *testing.T, c goldenCase, key string) array[float32] {
	t.Helper()
	tensor := x.tensor(t, c, key, safetensors.F32)
	return array[float32]{tensor.Shape, words(tensor.Data, math.Float32frombits)}
}

func (x *goldenIndex) flags(t *testing.T, c goldenCase, key string) array[bool] {
	t.Helper()
	tensor := x.tensor(t, c, key, safetensors.U8)
	out := array[bool]{tensor.Shape, make([]bool, len(tensor.Data))}
	for i, b := range tensor.Data {
		out.data[i] = b != 0
	}
	return out
}

func words[T any](data []byte, convert func(uint32) T) []T {
	out := make([]T, 0, len(data)/4)
	for chunk := range slices.Chunk(data, 4) {
		out = append(out, convert(binary.LittleEndian.Uint32(chunk)))
	}
	return out
}

// ulps is the distance of two positive floats in units in the last place.
func ulps(a, b float32) int64 {
	d := int64(math.Float32bits(a)) - int64(math.Float32bits(b))
	return max(d, -d)
}
