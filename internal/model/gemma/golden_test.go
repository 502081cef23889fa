package gemma

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/safetensors"
)

// goldenCase is one line of text/cases.json.
type goldenCase struct {
	Name       string
	Checkpoint string
	Kind       string
	File       string
	Prefix     string
	Tensors    map[string][]any
	Tolerance  map[string]any
	Inputs     struct {
		IDs      json.RawMessage
		Prompt   *string
		Canvas   json.RawMessage
		SCLogits *string `json:"sc_logits"`
		Commits  [][]int32
		Whole    string
		Cut      int
		Rows     [][]int32
	}
}

// golden is the index of the text fixtures with what it points to.
type golden struct {
	dir string
	// tensors and checkpoints are folders below dir.
	tensors, checkpoints string
	cases                []goldenCase
	byName               map[string]*goldenCase
	files                map[string]*safetensors.File
	backends             map[string]*Backend
	prompts              map[promptKey]model.Sequence
}

// promptKey names an encoded prompt: many cases decode after the same one.
type promptKey struct {
	backend    *Backend
	name       string
	vectorTail bool
}

func openGolden(t testing.TB) *golden {
	t.Helper()
	dir := fixtures.Dir(t, "text")
	data, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	index := struct {
		TensorsFolder     string `json:"tensors_folder"`
		CheckpointsFolder string `json:"checkpoints_folder"`
		Cases             []goldenCase
	}{TensorsFolder: "tensors", CheckpointsFolder: "ckpt"}
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Cases) == 0 {
		t.Fatal("the index holds no case")
	}
	g := &golden{dir: dir, tensors: index.TensorsFolder, checkpoints: index.CheckpointsFolder, cases: index.Cases, byName: map[string]*goldenCase{}, files: map[string]*safetensors.File{}, backends: map[string]*Backend{}, prompts: map[promptKey]model.Sequence{}}
	for i := range g.cases {
		g.byName[g.cases[i].Name] = &g.cases[i]
	}
	t.Cleanup(func() {
		for _, b := range g.backends {
			b.Close()
		}
		for _, f := range g.files {
			f.Close()
		}
	})
	return g
}

// backend opens a checkpoint of the fixtures once per arithmetic and class.
func (g *golden) backend(t testing.TB, name, arithmetic, class string) *Backend {
	t.Helper()
	key := name + " " + arithmetic + " " + class
	if b := g.backends[key]; b != nil {
		return b
	}
	b := openBackend(t, filepath.Join(g.dir, g.checkpoints, name), model.LoadOptions{Arithmetic: arithmetic, KernelClass: class, Threads: 2})
	g.backends[key] = b
	return b
}

// classes lists the kernel classes on which a case is to be run: all that the
// machine has, but for long prompts only the best one, unless FRESCO_TEST=full.
func (g *golden) classes(t testing.TB, c *goldenCase) []string {
	var names []string
	for _, class := range kernel.Classes() {
		if class.Available {
			names = append(names, class.Name)
		}
	}
	if g.promptTokens(t, c) >= longPrompt && !fixtures.Full() {
		return names[len(names)-1:]
	}
	return names
}

// longPrompt is the number of prompt tokens from which a case is long.
const longPrompt = 1000

// promptTokens counts the tokens that a case encodes first.
func (g *golden) promptTokens(t testing.TB, c *goldenCase) int {
	switch {
	case c.Inputs.Prompt != nil:
		return g.promptTokens(t, g.byName[*c.Inputs.Prompt])
	case c.Inputs.Whole != "":
		return g.promptTokens(t, g.byName[c.Inputs.Whole])
	case c.Kind == "encode":
		return len(list(t, c.Inputs.IDs))
	}
	return 0
}

func openBackend(t testing.TB, path string, o model.LoadOptions) *Backend {
	t.Helper()
	checkpoint, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := load(checkpoint, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*Backend)
}

func (g *golden) tensor(t testing.TB, file, name string) safetensors.Tensor {
	t.Helper()
	f := g.files[file]
	if f == nil {
		var err error
		if f, err = safetensors.Open(filepath.Join(g.dir, g.tensors, file)); err != nil {
			t.Fatal(err)
		}
		g.files[file] = f
	}
	tensor, ok := f.Tensor(name)
	if !ok {
		t.Fatalf("%s: no tensor %s", file, name)
	}
	return tensor
}

// floats reads a tensor of a case as float32, ints as int32.
func (g *golden) floats(t testing.TB, c *goldenCase, key string) []float32 {
	return decodeFloats(t, g.tensor(t, c.File, c.Prefix+key))
}

func (g *golden) ints(t testing.TB, c *goldenCase, key string) []int32 {
	return decodeInts(t, g.tensor(t, c.File, c.Prefix+key))
}

func decodeInts(t testing.TB, tensor safetensors.Tensor) []int32 {
	t.Helper()
	width := 4
	switch tensor.DType {
	case "I32":
	case "I64":
		width = 8 // of small numbers, whose lower half is the number
	default:
		t.Fatalf("a tensor of type %s, not I32 or I64", tensor.DType)
	}
	v := make([]int32, len(tensor.Data)/width)
	for i := range v {
		v[i] = int32(binary.LittleEndian.Uint32(tensor.Data[width*i:]))
	}
	return v
}

func decodeFloats(t testing.TB, tensor safetensors.Tensor) []float32 {
	switch tensor.DType {
	case "F32":
		v := make([]float32, len(tensor.Data)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(tensor.Data[4*i:]))
		}
		return v
	case "BF16":
		v := make([]float32, len(tensor.Data)/2)
		for i := range v {
			v[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(tensor.Data[2*i:])) << 16)
		}
		return v
	}
	t.Fatalf("a tensor of type %s", tensor.DType)
	return nil
}

func (c *goldenCase) has(key string) bool { return c.Tensors[key] != nil }

// list reads a JSON list of ids.
func list(t testing.TB, raw json.RawMessage) []int32 {
	var ids []int32
	if err := json.Unmarshal(raw, &ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

// observed is what a pass showed.
type observed struct {
	hidden  [][]float32 // per layer boundary [rows × hidden]
	ids     [][]int32   // per layer [rows × chosen]
	weights [][]float32
	final   []float32
	logits  []float32 // soft-capped, of the rows asked for
}

// observe runs f with a probe that records into an observed.
func (b *Backend) observe(f func()) *observed {
	o := &observed{}
	before := b.forward.probe
	b.forward.probe = &probe{
		vectorTail: before != nil && before.vectorTail,
		hidden:     func(_ int, x []float32, _ int) { o.hidden = append(o.hidden, slices.Clone(x)) },
		router: func(_ int, ids []int32, w []float32, _ int) {
			o.ids = append(o.ids, slices.Clone(ids))
			o.weights = append(o.weights, slices.Clone(w))
		},
		final: func(x []float32, _ int) { o.final = slices.Clone(x) },
	}
	f()
	b.forward.probe = before
	return o
}

// prefill encodes ids without looking.
func prefill(t testing.TB, b *Backend, s model.Sequence, ids []int32) {
	t.Helper()
	if len(ids) > 0 {
		step(t, b, model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: ids}}}})
	}
}

func step(t testing.TB, b *Backend, items ...model.Item) []model.Result {
	t.Helper()
	results, err := b.Step(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.NonFinite != nil {
			t.Fatalf("item %d: %v", i, r.NonFinite)
		}
	}
	return results
}

// encodeRows encodes ids and records the pass; logits of the given rows.
func encodeRows(t testing.TB, b *Backend, s model.Sequence, ids []int32, rows []int32) *observed {
	t.Helper()
	e := &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: ids}}}
	for _, r := range rows {
		e.Rows = append(e.Rows, model.Row{Index: int(r)})
	}
	o := b.observe(func() { step(t, b, model.Item{Encode: e}) })
	o.logits = make([]float32, len(rows)*b.config.vocab)
	for i := range rows {
		b.rowLogits.Processed(o.logits[i*b.config.vocab:(i+1)*b.config.vocab], i)
	}
	return o
}

// denoiseCanvas runs one denoising step at temperature 1 and records it.
func denoiseCanvas(t testing.TB, b *Backend, s model.Sequence, ids []int32, conditioning []float32) *observed {
	t.Helper()
	c, err := s.NewCanvas(len(ids))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if conditioning != nil {
		if err := c.SetLogits(conditioning); err != nil {
			t.Fatal(err)
		}
	}
	o := b.observe(func() {
		step(t, b, model.Item{Denoise: &model.Denoise{Canvas: c, Sequence: s, IDs: ids, Temperature: 1}})
	})
	o.logits = make([]float32, len(ids)*b.config.vocab)
	for i := range ids {
		c.(*canvasState).logits.Processed(o.logits[i*b.config.vocab:(i+1)*b.config.vocab], i)
	}
	return o
}

// afterPrompt returns a sequence with the prompt committed that a case's
// inputs.prompt names.
func (g *golden) afterPrompt(t testing.TB, c *goldenCase, b *Backend) *sequence {
	t.Helper()
	if c.Inputs.Prompt == nil {
		return b.NewSequence().(*sequence)
	}
	key := promptKey{b, *c.Inputs.Prompt, b.forward.probe != nil && b.forward.probe.vectorTail}
	if g.prompts[key] == nil {
		p := g.byName[key.name]
		if p == nil {
			t.Fatalf("no case %s", key.name)
		}
		s := b.NewSequence()
		prefill(t, b, s, list(t, p.Inputs.IDs))
		g.prompts[key] = s
	}
	fork, err := g.prompts[key].Fork()
	if err != nil {
		t.Fatal(err)
	}
	return fork.(*sequence)
}

// conditioning returns the logits that a case's inputs.sc_logits names.
func (g *golden) conditioning(t testing.TB, c *goldenCase) []float32 {
	if c.Inputs.SCLogits == nil {
		return nil
	}
	return decodeFloats(t, g.tensor(t, c.File, *c.Inputs.SCLogits))
}
