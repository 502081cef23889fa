package badinput

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

// A stored tensor, and the file that it came from. Unlike the package that is
// tested, these write whatever they are told to.
type stored struct {
	name  string
	dtype string
	shape []int
	data  []byte
}

type header struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// readTensors lists the tensors of a good safetensors file in the order of
// their data.
func readTensors(t testing.TB, file []byte) []stored {
	t.Helper()
	length := binary.LittleEndian.Uint64(file)
	raw, data := file[8:8+length], file[8+length:]
	var headers map[string]json.RawMessage
	if err := json.Unmarshal(raw, &headers); err != nil {
		t.Fatal(err)
	}
	delete(headers, "__metadata__")
	begins := map[string]int{}
	var list []stored
	for name, raw := range headers {
		var h header
		if err := json.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		begins[name] = h.Offsets[0]
		list = append(list, stored{name, h.DType, h.Shape, bytes.Clone(data[h.Offsets[0]:h.Offsets[1]])})
	}
	slices.SortFunc(list, func(a, b stored) int { return cmp.Compare(begins[a.name], begins[b.name]) })
	return list
}

// writeTensors writes a safetensors file; equal names are written twice.
func writeTensors(t testing.TB, list []stored) []byte {
	t.Helper()
	raw, at := []byte("{"), 0
	for i, s := range list {
		name, err := json.Marshal(s.name)
		if err != nil {
			t.Fatal(err)
		}
		h, err := json.Marshal(header{s.dtype, s.shape, [2]int{at, at + len(s.data)}})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = slices.Concat(raw, name, []byte(":"), h)
		at += len(s.data)
	}
	file := withHeader(append(raw, '}'))
	for _, s := range list {
		file = append(file, s.data...)
	}
	return file
}

// withHeader puts the length before a header.
func withHeader(raw []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...)
}

// tensorEdit changes the list of tensors of a file.
type tensorEdit func(t testing.TB, list []stored) []stored

// tensors edits model.safetensors.
func tensors(edits ...tensorEdit) edit {
	return func(t testing.TB, f folder) {
		list := readTensors(t, f[weightsFile])
		for _, change := range edits {
			list = change(t, list)
		}
		f[weightsFile] = writeTensors(t, list)
	}
}

// indexOf finds a tensor that must be there.
func indexOf(t testing.TB, list []stored, name string) int {
	t.Helper()
	i := slices.IndexFunc(list, func(s stored) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("the good checkpoint has no tensor %s", name)
	}
	return i
}

func without(name string) tensorEdit {
	return func(t testing.TB, list []stored) []stored {
		i := indexOf(t, list, name)
		return slices.Delete(list, i, i+1)
	}
}

func with(s stored) tensorEdit {
	return func(_ testing.TB, list []stored) []stored { return append(list, s) }
}

func renamed(from, to string) tensorEdit {
	return func(t testing.TB, list []stored) []stored {
		list[indexOf(t, list, from)].name = to
		return list
	}
}

// renamedAll changes every name.
func renamedAll(name func(string) string) tensorEdit {
	return func(_ testing.TB, list []stored) []stored {
		for i := range list {
			list[i].name = name(list[i].name)
		}
		return list
	}
}

// copied stores a tensor again under another name.
func copied(from, to string) tensorEdit {
	return func(t testing.TB, list []stored) []stored {
		s := list[indexOf(t, list, from)]
		s.name = to
		return append(list, s)
	}
}

// shaped changes what the header says about a shape, and adds or cuts off data
// where it no longer fits.
func shaped(name string, shape ...int) tensorEdit {
	return func(t testing.TB, list []stored) []stored {
		s := &list[indexOf(t, list, name)]
		old, size := 1, 1
		for _, n := range s.shape {
			old *= n
		}
		for _, n := range shape {
			size *= n
		}
		s.data = slices.Concat(s.data, make([]byte, max(0, size-old)*len(s.data)/old))[:size*len(s.data)/old]
		s.shape = append([]int{}, shape...) // which JSON has a [] for
		return list
	}
}

// typed stores a tensor in another type; its data are zeros.
func typed(name, dtype string, bytesPerElement int) tensorEdit {
	return func(t testing.TB, list []stored) []stored {
		s := &list[indexOf(t, list, name)]
		n := bytesPerElement
		for _, d := range s.shape {
			n *= d
		}
		s.dtype, s.data = dtype, make([]byte, n)
		return list
	}
}

// overwritten puts a value at one element of a tensor, counted from 0.
func overwritten(name string, element int, value float64) tensorEdit {
	return func(t testing.TB, list []stored) []stored {
		s := list[indexOf(t, list, name)]
		switch s.dtype {
		case "BF16":
			binary.LittleEndian.PutUint16(s.data[2*element:], dtype.ToBF16(float32(value)))
		case "F32":
			binary.LittleEndian.PutUint32(s.data[4*element:], math.Float32bits(float32(value)))
		default:
			t.Fatalf("tensor %s has type %s", name, s.dtype)
		}
		return list
	}
}
