package gemma

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/safetensors"
)

// expectedSuffix is that of the file with a model's expected values.
const expectedSuffix = ".expected.safetensors"

// TestGoldenGGUF compares encoder and decoder of every GGUF model of the fixtures
// with the official model on the dequantised weights, in float32. bf16 has no
// expected values here; TestGGUFEqualsFolder holds it to what the folder layout
// gives.
func TestGoldenGGUF(t *testing.T) {
	paths := ggufFixtures(t)
	noise := readNoise(t, filepath.Join(filepath.Dir(paths[0]), "..", "models.json"))
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".gguf")
		t.Run(name, func(t *testing.T) {
			n, ok := noise["gguf/"+name+".expected"]
			if !ok {
				t.Fatal("models.json does not know the model")
			}
			// The README's tolerances: 2e-3, and 5e-3 where weights changed by 1e-6
			// move the logits by more than that.
			limit := 2e-3
			if n.Weights > limit {
				limit = 5e-3
			}
			want := readExpected(t, strings.TrimSuffix(path, ".gguf")+expectedSuffix)
			for _, class := range kernel.Classes() {
				if !class.Available {
					t.Logf("kernel class %s: %s", class.Name, class.Reason)
					continue
				}
				t.Run(class.Name, func(t *testing.T) {
					b := openBackend(t, path, model.LoadOptions{Arithmetic: "exact", KernelClass: class.Name, Threads: 2})
					defer b.Close()
					want.compare(t, b, limit)
				})
			}
		})
	}
}

type noiseOf struct {
	Weights float64 `json:"weights_times_1_plus_1e-6"`
}

func readNoise(t *testing.T, path string) map[string]noiseOf {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Noise map[string]noiseOf }
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	return index.Noise
}

// expectedPasses are the values beside a model of the format fixtures.
type expectedPasses struct {
	ids, canvas1, canvas2  []int32
	hidden                 []float32
	logits1, logits2, self []float32
}

func readExpected(t *testing.T, path string) *expectedPasses {
	t.Helper()
	file, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tensor := func(name string) safetensors.Tensor {
		x, ok := file.Tensor(name)
		if !ok {
			t.Fatalf("%s: no tensor %s", path, name)
		}
		return x
	}
	e := &expectedPasses{
		ids: decodeInts(t, tensor("ids")), canvas1: decodeInts(t, tensor("canvas1")), canvas2: decodeInts(t, tensor("canvas2")),
		hidden: decodeFloats(t, tensor("encoder_hidden")), logits1: decodeFloats(t, tensor("logits1")), logits2: decodeFloats(t, tensor("logits2")),
	}
	for _, l := range e.logits1 {
		e.self = append(e.self, l/0.8)
	}
	return e
}

// compare runs the prompt, a step without self-conditioning, and one conditioned
// on the first one's tempered logits.
func (e *expectedPasses) compare(t *testing.T, b *Backend, limit float64) {
	t.Helper()
	s := b.NewSequence()
	defer s.Release()
	check := func(what string, got, want []float32) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
		}
		worst, at := largestError(got, want)
		t.Logf("%s: largest error %.3g, relative RMS %.3g", what, worst, relativeRMS(got, want))
		if !(worst <= limit) {
			t.Errorf("%s: largest error %.3g at %d, tolerance %.3g", what, worst, at, limit)
		}
	}
	check("encoder_hidden", encodeRows(t, b, s, e.ids, nil).final, e.hidden)
	check("logits1", denoiseCanvas(t, b, s, e.canvas1, nil).logits, e.logits1)
	check("logits2", denoiseCanvas(t, b, s, e.canvas2, e.self).logits, e.logits2)
}
