package engine_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/gemma"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/safetensors"
)

// TestGoldenTrace replays the official generations on the CPU backend through
// the engine, row by row and without padding. What was drawn (starting canvas,
// candidates, renoise canvas) is the recorded; everything else is computed. Rows
// are compared up to the step where they are done.
//
// Checkpoints whose decisions are safe from rounding run freely, and every id,
// mask and flag must be equal. The others (bfloat16) would drift: they are fed
// each recorded canvas in bf16 arithmetic and compared by the RMS error of a step's
// entropies.
func TestGoldenTrace(t *testing.T) {
	dir := fixtures.Dir(t, "text")
	index := struct {
		TensorsFolder     string `json:"tensors_folder"`
		CheckpointsFolder string `json:"checkpoints_folder"`
		Cases             []json.RawMessage
	}{TensorsFolder: "tensors", CheckpointsFolder: "ckpt"}
	readJSON(t, filepath.Join(dir, "cases.json"), &index)
	seen := 0
	worst := map[string]float64{}
	for _, raw := range index.Cases {
		var kind struct{ Kind string }
		if err := json.Unmarshal(raw, &kind); err != nil {
			t.Fatal(err)
		}
		switch kind.Kind {
		case "trace":
		case "accept", "temperature", "stop", "finalize", "encode", "decode", "encode_chunked", "continue", "batch", "training":
			continue // compared by other packages
		default:
			t.Errorf("unknown kind %q", kind.Kind)
			continue
		}
		var c traceCase
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		seen++
		for _, class := range kernel.Classes() {
			if !class.Available {
				continue
			}
			t.Run(c.Name+"/"+class.Name, func(t *testing.T) {
				r := &traceReplay{
					t: t, c: c, worst: worst,
					tensors:    filepath.Join(dir, index.TensorsFolder),
					checkpoint: filepath.Join(dir, index.CheckpointsFolder, c.Checkpoint),
				}
				r.run(class.Name)
			})
		}
	}
	if seen == 0 {
		t.Fatal("the index holds no trace")
	}
	for _, key := range slices.Sorted(maps.Keys(worst)) {
		t.Logf("largest error: %-40s %.3g", key, worst[key])
	}
}

type traceCase struct {
	Name, Checkpoint, Kind, File, Prefix string
	Tensors                              map[string][]any
	Tolerance                            map[string]any
	Inputs                               struct {
		IDs       [][]int32
		Cached    [][]int32 `json:"already_cached"`
		Arguments map[string]json.RawMessage
		Safe      *float64 `json:"decisions_are_safe_by"`
	}
}

type traceReplay struct {
	t *testing.T
	// tensors is a folder, as checkpoint is.
	tensors, checkpoint string

	c     traceCase
	file  *safetensors.File
	worst map[string]float64

	row, rows int
	backend   model.Backend
}

func (r *traceReplay) run(class string) {
	t := r.t
	var err error
	if r.file, err = safetensors.Open(filepath.Join(r.tensors, r.c.File)); err != nil {
		t.Fatal(err)
	}
	defer r.file.Close()
	checkpoint, err := weights.OpenDir(r.checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	arithmetic := "exact"
	if r.c.Inputs.Safe == nil && !r.exactComparison() {
		arithmetic = "bf16"
	}
	r.backend, err = gemma.Architecture().Load(checkpoint, model.LoadOptions{Arithmetic: arithmetic, Threads: 2, KernelClass: class})
	if err != nil {
		t.Fatal(err)
	}
	defer r.backend.Close()
	r.rows = len(r.c.Inputs.IDs)
	for r.row = range r.rows {
		r.replayRow(arithmetic == "exact")
	}
}

// exactComparison reports whether the index asks for equal decisions.
func (r *traceReplay) exactComparison() bool {
	return r.c.Tolerance["ids, masks, flags"] == "exact"
}

// replayRow generates one row through the engine and compares every step.
func (r *traceReplay) replayRow(free bool) {
	t := r.t
	request, limit := r.request()
	recorded := &recordedModel{Backend: r.backend, r: r, free: free}
	var canvases [][]int32
	step := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for event, err := range engine.New(recorded, nil).Generate(ctx, request) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case *engine.Draft:
			if e.Step == 1 {
				step = 0
				canvases = append(canvases, nil)
			}
			r.compareStep(e, step, free)
			canvases[len(canvases)-1] = slices.Clone(e.Best)
			step++
			if len(canvases) == limit && r.last(e, step) {
				cancel()
			}
		}
	}
	if free {
		r.compareSequence(canvases)
	}
}

// last reports whether a step is the last recorded of its canvas for this row.
func (r *traceReplay) last(e *engine.Draft, next int) bool {
	return next == r.steps(e.Canvas) || r.bytes(e.Canvas, "done")[(next-1)*r.rows+r.row] != 0
}

func (r *traceReplay) steps(index int) int { return len(r.bytes(index, "done")) / r.rows }

// compareStep compares one denoising step.
func (r *traceReplay) compareStep(e *engine.Draft, step int, free bool) {
	t, n := r.t, len(e.Best)
	at := (step*r.rows + r.row) * n
	ids := func(key string) []int32 { return r.ints(e.Canvas, key)[at : at+n] }
	var squares float64
	for i, h := range r.floats(e.Canvas, "entropy")[at : at+n] {
		d := float64(h) - float64(e.Entropy[i])
		squares += d * d
		if free {
			r.error("entropy", d)
		}
	}
	if !free {
		// In bfloat16 a row whose router chose another expert is off by any
		// amount, so the canvas as a whole is compared.
		r.error("entropy (RMS of a step)", math.Sqrt(squares/float64(n)))
		return
	}
	if !slices.Equal(e.Best, ids("argmax")) {
		t.Errorf("row %d, canvas %d, step %d: argmax canvas differs", r.row, e.Canvas, step)
	}
	if !slices.Equal(e.Current, ids("next")) {
		t.Errorf("row %d, canvas %d, step %d: next canvas differs", r.row, e.Canvas, step)
	}
	accept := r.bytes(e.Canvas, "accept")[at : at+n]
	for i, a := range accept {
		if (a != 0) != e.Accepted[i] {
			t.Errorf("row %d, canvas %d, step %d: position %d accepted %v, want %v", r.row, e.Canvas, step, i, e.Accepted[i], a != 0)
		}
	}
	flag := step*r.rows + r.row
	if r.optionsHaveStop() {
		r.error("mean_entropy", float64(r.floats(e.Canvas, "mean_entropy")[flag])-float64(e.MeanEntropy))
	}
	r.error("temperature", float64(r.floats(e.Canvas, "temperature")[step])-float64(e.Temperature))
}

// optionsHaveStop reports whether the stop criterion ran.
func (r *traceReplay) optionsHaveStop() bool {
	for _, key := range []string{"stability_threshold", "confidence_threshold"} {
		if string(r.c.Inputs.Arguments[key]) == "null" {
			return false
		}
	}
	return true
}

// error notes a difference and fails beyond the tolerance of the case.
func (r *traceReplay) error(quantity string, d float64) {
	limit, ok := r.c.Tolerance[quantity].(float64)
	if !ok {
		limit = r.c.Tolerance["entropy"].(float64)
	}
	if quantity == "temperature" {
		limit = 1e-7
	}
	d = math.Abs(d)
	key := fmt.Sprintf("%-18s %s", r.c.Checkpoint, quantity)
	r.worst[key] = max(r.worst[key], d)
	if !(d <= limit) {
		r.t.Errorf("%s is off by %.3g, tolerance %.3g", quantity, d, limit)
	}
}

// compareSequence compares the whole answer with the official ids: prompt, then
// every canvas after end and padding were dealt with.
func (r *traceReplay) compareSequence(canvases [][]int32) {
	for i, ids := range canvases {
		n := len(ids)
		final := r.ints(i, "final")[r.row*n : (r.row+1)*n]
		kept := len(final)
		for j, id := range final {
			if slices.Contains(r.endIDs(), id) {
				kept = j + 1 // what follows is padding
				break
			}
		}
		if !slices.Equal(ids[:kept], final[:kept]) {
			r.t.Errorf("row %d: canvas %d differs from the official one", r.row, i)
		}
	}
}

func (r *traceReplay) endIDs() []int32 { return r.backend.Config().Tokens.End }

// recordedDraws gives the recorded canvases.
type recordedDraws struct{ r *traceReplay }

func (d *recordedDraws) ID(at canvas.Address) int32 {
	r, index := d.r, int(at.Canvas)
	if !r.has(index, "start") {
		return 0 // a canvas after the recorded ones; the replay ends before it is used
	}
	n := len(r.ints(index, "start")) / r.rows
	if at.Purpose == canvas.PurposeInitial {
		return r.ints(index, "start")[r.row*n+int(at.Position)]
	}
	return r.ints(index, "renoise")[(int(at.Step)*r.rows+r.row)*n+int(at.Position)]
}

// recordedModel is the backend with the recorded candidates, and, where the run
// is not free, the recorded canvas before each step.
type recordedModel struct {
	model.Backend
	r    *traceReplay
	free bool
}

func (m *recordedModel) Step(ctx context.Context, items []model.Item) ([]model.Result, error) {
	for i, item := range items {
		if item.Denoise != nil && !m.free {
			fed := *item.Denoise
			fed.IDs = m.recorded(item.Denoise, "canvas")
			items[i].Denoise = &fed
		}
	}
	results, err := m.Backend.Step(ctx, items)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if item.Denoise == nil {
			continue
		}
		sampled := m.recorded(item.Denoise, "sampled")
		for j := range results[i].Stats {
			results[i].Stats[j].Sample = sampled[j]
		}
	}
	return results, nil
}

func (m *recordedModel) recorded(d *model.Denoise, key string) []int32 {
	n := len(d.IDs)
	at := (int(d.Draw.Step)*m.r.rows + m.r.row) * n
	return m.r.ints(int(d.Draw.Canvas), key)[at : at+n]
}

func (r *traceReplay) has(index int, key string) bool {
	return r.c.Tensors[fmt.Sprintf("c%d.%s", index, key)] != nil
}

func (r *traceReplay) bytes(index int, key string) []byte {
	name := fmt.Sprintf("%sc%d.%s", r.c.Prefix, index, key)
	tensor, ok := r.file.Tensor(name)
	if !ok {
		r.t.Fatalf("no tensor %s", name)
	}
	return tensor.Data
}

func (r *traceReplay) ints(index int, key string) []int32 {
	data := r.bytes(index, key)
	v := make([]int32, len(data)/4)
	for i := range v {
		v[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return v
}

func (r *traceReplay) floats(index int, key string) []float32 {
	v := make([]float32, 0, 64)
	for _, x := range r.ints(index, key) {
		v = append(v, math.Float32frombits(uint32(x)))
	}
	return v
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}
