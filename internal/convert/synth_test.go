package convert

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/quant"
)

func synthesize(t *testing.T, o SynthOptions) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if _, err := Synthesize(t.Context(), path, o); err != nil {
		t.Fatal(err)
	}
	return path
}

// meanEntropy is that of rows of logits.
func meanEntropy(logits []float32, rows int) float64 {
	vocab, sum := len(logits)/rows, 0.0
	for row := range slices.Chunk(logits, vocab) {
		largest := float64(slices.Max(row))
		var z, weighted float64
		for _, l := range row {
			p := math.Exp(float64(l) - largest)
			z += p
			weighted += p * float64(l)
		}
		sum += math.Log(z) + largest - weighted/z
	}
	return sum / float64(rows)
}

// The logits of a synthetic model are as undecided as those of a real one, in a
// first step and in one that is conditioned on it.
func TestSynthEntropy(t *testing.T) {
	for _, typ := range SynthTypes() {
		for _, seed := range []uint64{0, 1, 1 << 40} {
			all := logits(t, synthesize(t, SynthOptions{Size: "tiny", Type: typ, Seed: seed}))
			for i, part := range [][]float32{all[:len(all)/2], all[len(all)/2:]} {
				h := meanEntropy(part, 8)
				t.Logf("%s, seed %d, step %d: %.2f nats", typ, seed, i, h)
				if !(h >= 1 && h <= 3) {
					t.Errorf("%s, seed %d, step %d: a mean entropy of %.2f nats, want 1 to 3", typ, seed, i, h)
				}
			}
		}
	}
}

// The large sizes have the shapes of model.md §2.
func TestSynthShapes(t *testing.T) {
	for _, c := range []struct {
		size       string
		parameters int64
		layers     int
		full       []int
	}{
		{"26b", 25_250_000_000, 30, []int{5, 11, 17, 23, 29}},
		{"4b", 4_450_000_000, 15, []int{5, 11, 14}},
		{"tiny", 728_550, 7, []int{5, 6}},
	} {
		t.Run(c.size, func(t *testing.T) {
			s, ok := findShape(c.size)
			if !ok {
				t.Fatal("no such size")
			}
			config, err := s.config()
			if err != nil {
				t.Fatal(err)
			}
			blueprint, err := models.Blueprint(modelType, config, generation())
			if err != nil {
				t.Fatal(err)
			}
			var n int64
			values := 0
			for _, x := range blueprint.Tensors {
				if !x.Derived {
					n += int64(x.Tensor.Elements())
				}
				if strings.HasSuffix(x.Official, ".v_proj.weight") {
					values++
				}
			}
			if off := math.Abs(float64(n)/float64(c.parameters) - 1); off > 0.01 {
				t.Errorf("%d parameters, want about %d", n, c.parameters)
			}
			if want := c.layers - len(c.full); values != want {
				t.Errorf("%d value projections, want %d", values, want)
			}
			if c.size == "26b" && len(blueprint.Tensors) != 692 {
				t.Errorf("%d tensors, want 692", len(blueprint.Tensors))
			}
		})
	}
}

// The seed and the type decide the bytes, the workers do not.
func TestSynthIsDeterministic(t *testing.T) {
	read := func(o SynthOptions) []byte {
		data, err := os.ReadFile(synthesize(t, o))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	o := SynthOptions{Size: "tiny", Type: "q4_0", Seed: 5, Threads: 1}
	first := read(o)
	o.Threads = 3
	if !bytes.Equal(first, read(o)) {
		t.Error("other workers, other bytes")
	}
	o.Seed = 6
	if bytes.Equal(first, read(o)) {
		t.Error("another seed, the same bytes")
	}
}

// A chunk that begins inside a row has the same elements as the whole.
func TestRandomAtAnyPlace(t *testing.T) {
	s, _ := findShape("tiny")
	config, err := s.config()
	if err != nil {
		t.Fatal(err)
	}
	blueprint, err := models.Blueprint(modelType, config, generation())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(blueprint.Tensors, func(x model.ExportTensor) bool { return x.Kind == model.Table })
	r := s.randomOf(blueprint.Tensors[i], 3)
	whole, part := make([]float32, 1024), make([]float32, 500)
	if err := errors.Join(r.fill(whole, 0), r.fill(part, 36)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(whole[36:536], part) {
		t.Error("the elements differ")
	}
}

func TestSynthRefusals(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	if err := errors.Join(os.WriteFile(file, []byte("mine"), 0o600), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		out  string
		o    SynthOptions
		ctx  context.Context
		want string
	}{
		{"new", SynthOptions{Size: "1b", Type: "q4_0"}, t.Context(), `unknown size "1b" (known: 26b, 4b, tiny)`},
		{"new", SynthOptions{Size: "tiny", Type: "f16"}, t.Context(), `unknown type "f16" (known: q4_0, q4_k_m, q8_0, bf16)`},
		{"file", SynthOptions{Size: "tiny", Type: "q4_0"}, t.Context(), "exists; --force overwrites it"},
		{"file", SynthOptions{Size: "tiny", Type: "bf16", Force: true}, t.Context(), "is a file; the output is a folder"},
		{"folder", SynthOptions{Size: "tiny", Type: "bf16"}, t.Context(), "exists; --force overwrites the checkpoint in it"},
		{"folder", SynthOptions{Size: "tiny", Type: "q8_0", Force: true}, t.Context(), "is a folder; the output is a file"},
		{"none/new", SynthOptions{Size: "tiny", Type: "bf16"}, t.Context(), "no such file or directory"},
		{"new", SynthOptions{Size: "tiny", Type: "bf16"}, ended, "canceled"},
		{"new", SynthOptions{Size: "tiny", Type: "q8_0"}, ended, "canceled"},
	} {
		_, err := Synthesize(c.ctx, filepath.Join(dir, c.out), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: error %v, want %q", c.out, c.o, err, c.want)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v left behind, %v", entries, err)
	}
	if _, err := Synthesize(t.Context(), folder, SynthOptions{Size: "tiny", Type: "bf16", Force: true}); err != nil {
		t.Error(err)
	}
	logits(t, folder)
}

// The mix is that of the published file.
func TestMixFormats(t *testing.T) {
	s, _ := findShape("26b")
	config, err := s.config()
	if err != nil {
		t.Fatal(err)
	}
	blueprint, err := models.Blueprint(modelType, config, generation())
	if err != nil {
		t.Fatal(err)
	}
	formats, err := mixFormats(blueprint.Tensors)
	if err != nil {
		t.Fatal(err)
	}
	got := map[quant.Format]int{}
	for _, f := range formats {
		got[f]++
	}
	want := map[quant.Format]int{quant.Q4_K: 194, quant.Q5_0: 33, quant.Q6_K: 14, quant.Q8_0: 28, quant.F32: 423}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-published +ours):\n%s", diff)
	}
}

// Random blocks have the mean and the deviation that is asked for, row by row.
func TestRandomBlocks(t *testing.T) {
	for _, f := range []quant.Format{quant.Q4_K, quant.Q6_K} {
		const n = 64 * superElements
		r := random{deviation: 0.02, row: n / 2, stride: 2, key: [2]uint32{1, 2}, tensor: [2]uint32{3, 4}}
		size, err := f.RowBytes(n)
		if err != nil {
			t.Fatal(err)
		}
		data, values := make([]byte, size), make([]float32, n)
		if err := errors.Join(r.blocks(f, data, 0), quant.Decode(f, values, data)); err != nil {
			t.Fatal(err)
		}
		for row, want := range []float64{0.02, 0.02 * rareScale} {
			var sum, squares float64
			for _, v := range values[row*n/2 : (row+1)*n/2] {
				sum += float64(v)
				squares += float64(v) * float64(v)
			}
			mean, deviation := sum/(n/2), math.Sqrt(squares/(n/2))
			if math.Abs(mean) > 0.05*want || math.Abs(deviation/want-1) > 0.05 {
				t.Errorf("%v, row %d: mean %.3g, deviation %.3g, want 0 and %.3g", f, row, mean, deviation, want)
			}
		}
		part := make([]byte, 3*f.BlockBytes())
		if err := r.blocks(f, part, 5*superElements); err != nil || !bytes.Equal(part, data[5*f.BlockBytes():8*f.BlockBytes()]) {
			t.Errorf("%v: blocks in the middle differ, %v", f, err)
		}
	}
	if err := (random{}).blocks(quant.Q4_0, make([]byte, 18), 0); err == nil {
		t.Error("Q4_0 is drawn")
	}
}
