package quant

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/safetensors"
)

// golden is one file of tensors of the folder "formats".
type golden struct {
	file *safetensors.File
}

func openGolden(t *testing.T, name string) golden {
	t.Helper()
	f, err := safetensors.Open(filepath.Join(fixtures.Dir(t, "formats"), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return golden{f}
}

// groups returns the tensors by what stands before the last dot of their names,
// keyed by what stands behind it.
func (g golden) groups() map[string]map[string]safetensors.Tensor {
	m := map[string]map[string]safetensors.Tensor{}
	for _, name := range g.file.Names() {
		dot := strings.LastIndexByte(name, '.')
		group, part := name[:max(dot, 0)], name[dot+1:]
		if m[group] == nil {
			m[group] = map[string]safetensors.Tensor{}
		}
		m[group][part], _ = g.file.Tensor(name)
	}
	return m
}

// floats converts a tensor of a float type.
func floats(t *testing.T, x safetensors.Tensor) []float32 {
	t.Helper()
	typ, err := dtype.Parse(string(x.DType))
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float32, len(x.Data)*8/typ.Bits())
	if err := dtype.Decode(typ, y, x.Data); err != nil {
		t.Fatal(err)
	}
	return y
}

// equal compares bits; any NaN is right for a NaN.
func equal(t *testing.T, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d elements, want %d", len(got), len(want))
	}
	for i, w := range want {
		if w != w && got[i] != got[i] {
			continue
		}
		if math.Float32bits(got[i]) != math.Float32bits(w) {
			t.Fatalf("[%d] is %v (%08x), want %v (%08x)", i, got[i], math.Float32bits(got[i]), w, math.Float32bits(w))
		}
	}
}

func decode(t *testing.T, f Format, src []byte) []float32 {
	t.Helper()
	y := make([]float32, len(src)/f.BlockBytes()*f.BlockElements())
	if err := Decode(f, y, src); err != nil {
		t.Fatal(err)
	}
	return y
}

// TestGoldenBlocks decodes and encodes every block type of the fixtures.
func TestGoldenBlocks(t *testing.T) {
	groups := openGolden(t, "quants.safetensors").groups()
	raw, err := os.ReadFile(filepath.Join(fixtures.Dir(t, "formats"), "formats.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Quants map[string]struct {
			ID       uint32 `json:"ggml_type"`
			Elements int    `json:"block"`
			Bytes    int    `json:"bytes"`
			Shape    []int  `json:"shape"`
			Finite   *bool  `json:"finite"` // of the decoded raw blocks
		} `json:"quants"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Quants) == 0 {
		t.Fatal("no formats in the index")
	}
	for name := range groups {
		if _, ok := index.Quants[name]; !ok {
			t.Errorf("tensors of %q, which is not in the index", name)
		}
	}
	for name, want := range index.Quants {
		t.Run(name, func(t *testing.T) {
			f, err := Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			if byID, err := ByID(want.ID); err != nil || byID != f {
				t.Errorf("ByID(%d) = %v, %v", want.ID, byID, err)
			}
			if f.ID() != want.ID || f.BlockElements() != want.Elements || f.BlockBytes() != want.Bytes {
				t.Errorf("type %d, %d elements in %d bytes; want %d, %d in %d",
					f.ID(), f.BlockElements(), f.BlockBytes(), want.ID, want.Elements, want.Bytes)
			}
			rowBytes, err := f.RowBytes(want.Shape[1])
			if err != nil {
				t.Fatal(err)
			}
			parts, cases := groups[name], 0
			for part, x := range parts {
				switch part {
				case "raw":
					cases++
					if x.Shape[1] != rowBytes {
						t.Errorf("rows of %d bytes, RowBytes says %d", x.Shape[1], rowBytes)
					}
					values := floats(t, parts["f32"])
					equal(t, decode(t, f, x.Data), values)
					if want.Finite != nil && allFinite(values) != *want.Finite {
						t.Errorf("finite values: %v, the index says %v", allFinite(values), *want.Finite)
					}
				case "quantised":
					cases++
					if x.Shape[1] != rowBytes {
						t.Errorf("rows of %d bytes, RowBytes says %d", x.Shape[1], rowBytes)
					}
					got := make([]byte, len(x.Data))
					if err := Encode(f, got, floats(t, parts["source"])); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, x.Data) {
						t.Error(firstByte(f, got, x.Data))
					}
					equal(t, decode(t, f, x.Data), floats(t, parts["quantised_f32"]))
				case "f32", "source", "quantised_f32":
				default:
					t.Errorf("unknown kind of tensor %q", part)
				}
			}
			if cases == 0 {
				t.Error("no case")
			}
		})
	}
}

func firstByte(f Format, got, want []byte) string {
	for i := range want {
		if got[i] != want[i] {
			size := f.BlockBytes()
			block := i / size * size
			return f.String() + ": first block that differs:\n" +
				hex.EncodeToString(got[block:block+size]) + "\n" + hex.EncodeToString(want[block:block+size])
		}
	}
	return ""
}

func allFinite(x []float32) bool {
	for _, v := range x {
		if !finite(v) {
			return false
		}
	}
	return true
}

// TestGoldenCodesAndScales decodes the two forms of safetensors checkpoints.
func TestGoldenCodesAndScales(t *testing.T) {
	groups := openGolden(t, "fp8_nvfp4.safetensors").groups()
	if len(groups) == 0 {
		t.Fatal("no case")
	}
	for name, parts := range groups {
		t.Run(name, func(t *testing.T) {
			switch {
			case strings.HasPrefix(name, "fp8."):
				goldenFP8(t, parts)
			case strings.HasPrefix(name, "nvfp4."):
				goldenNVFP4(t, parts)
			case name == "nvfp4":
				goldenNibbles(t, parts)
			default:
				t.Fatal("unknown kind of case")
			}
		})
	}
}

// only fails when there is a part that names does not list, or one missing.
func only(t *testing.T, parts map[string]safetensors.Tensor, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, ok := parts[name]; !ok {
			t.Fatalf("no tensor %q", name)
		}
	}
	if len(parts) != len(names) {
		t.Fatalf("%d tensors, of which %q are known", len(parts), names)
	}
}

// goldenFP8: the fixture holds the product in float32, whatever the type of the
// scales. What compressed-tensors makes of scales in bf16 is its rounding.
func goldenFP8(t *testing.T, parts map[string]safetensors.Tensor) {
	only(t, parts, "weight", "weight_scale", "f32")
	weight, scale, want := parts["weight"], parts["weight_scale"], floats(t, parts["f32"])
	w := FP8{Rows: weight.Shape[0], Cols: weight.Shape[1], Codes: weight.Data, Scales: floats(t, scale)}
	switch {
	case len(scale.Shape) < 2:
		w.BlockRows, w.BlockCols = w.Rows, w.Cols
	case scale.Shape[1] == 1 && scale.Shape[0] == w.Rows:
		w.BlockRows, w.BlockCols = 1, w.Cols
	default:
		w.BlockRows, w.BlockCols = 128, 128
	}
	got := make([]float32, len(want))
	decodeRows := func() {
		for r := range w.Rows {
			if err := w.DecodeRow(got[r*w.Cols:][:w.Cols], r); err != nil {
				t.Fatal(err)
			}
		}
	}
	decodeRows()
	equal(t, got, want)
	switch scale.DType {
	case safetensors.F32:
	case safetensors.BF16:
		w.RoundBF16 = true
		decodeRows()
		dtype.RoundBF16Slice(want)
		equal(t, got, want)
	default:
		t.Fatalf("unknown type %v of scales", scale.DType)
	}
}

func goldenNVFP4(t *testing.T, parts map[string]safetensors.Tensor) {
	only(t, parts, "weight_packed", "weight_scale", "weight_global_scale", "divide_f32", "multiply_f32")
	packed := parts["weight_packed"]
	w := NVFP4{
		Rows: packed.Shape[0], Cols: 2 * packed.Shape[1],
		Codes: packed.Data, Scales: parts["weight_scale"].Data,
		Global: floats(t, parts["weight_global_scale"])[0],
	}
	for form, part := range []string{Divide: "divide_f32", Multiply: "multiply_f32"} {
		w.Form = GlobalScale(form)
		got := make([]float32, w.Rows*w.Cols)
		for r := range w.Rows {
			if err := w.DecodeRow(got[r*w.Cols:][:w.Cols], r); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, got, floats(t, parts[part]))
	}
}

// goldenNibbles: every byte as two codes, with scales of 1.
func goldenNibbles(t *testing.T, parts map[string]safetensors.Tensor) {
	only(t, parts, "all_bytes", "all_bytes_f32")
	codes, want := parts["all_bytes"].Data, floats(t, parts["all_bytes_f32"])
	w := NVFP4{
		Rows: 1, Cols: len(want), Codes: codes, Global: 1,
		Scales: bytes.Repeat([]byte{dtype.ToE4M3(1)}, len(want)/NVFP4Group),
	}
	got := make([]float32, len(want))
	if err := w.DecodeRow(got, 0); err != nil {
		t.Fatal(err)
	}
	equal(t, got, want)
}
