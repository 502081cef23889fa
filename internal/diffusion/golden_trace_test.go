package diffusion

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
)

// TestGoldenTraceDecisions replays the official generations without a model:
// what the model said (entropy, argmax, sample) and what was drawn (initial
// canvas, renoise canvas) are the recorded ones, every decision is ours. Batches
// are replayed row by row; a row whose canvas is done is not compared further.
func TestGoldenTraceDecisions(t *testing.T) {
	largest := map[string]float64{}
	steps := 0
	eachGolden(t, "trace", func(t *testing.T, x *goldenIndex, c goldenCase) {
		trace := newTrace(t, x, c)
		for row := range trace.rows() {
			steps += trace.replay(t, row, largest)
		}
	})
	t.Logf("%d steps replayed; largest errors: %v", steps, largest)
}

type goldenTrace struct {
	x        *goldenIndex
	c        goldenCase
	prompt   [][]int32
	given    bool // the first canvas is the caller's
	settings Settings
	ending   Ending
}

// arguments of generate() that shape a trace, in generation_config.json or in
// the call. In the file null means the default, in the call it means off.
type generateArguments struct {
	Steps   *int     `json:"max_denoising_steps"`
	TMin    *float64 `json:"t_min"`
	TMax    *float64 `json:"t_max"`
	Sampler *struct {
		Bound float32 `json:"entropy_bound"`
	} `json:"sampler_config"`
	Stability  *int      `json:"stability_threshold"`
	Confidence *float32  `json:"confidence_threshold"`
	End        tokenList `json:"eos_token_id"`
	Pad        *int32    `json:"pad_token_id"`
	MaxLength  *int      `json:"max_length"`
}

// otherArguments are those that the model or the engine heeds, not the sampler.
var otherArguments = map[string]bool{"max_new_tokens": true, "attention_mask": true, "decoder_input_ids": true}

// officialArguments are the fallbacks of section 1.4.
const officialArguments = `{"max_denoising_steps": 48, "t_min": 0.4, "t_max": 0.8, "sampler_config": {"entropy_bound": 0.1},
	"stability_threshold": 1, "confidence_threshold": 0.005, "eos_token_id": [1, 106, 50], "pad_token_id": 0}`

func newTrace(t *testing.T, x *goldenIndex, c goldenCase) *goldenTrace {
	t.Helper()
	var inputs struct {
		IDs       [][]int32                  `json:"ids"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	}
	c.readInputs(t, &inputs)
	merged, file := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(officialArguments), &merged); err != nil {
		t.Fatal(err)
	}
	readJSON(t, filepath.Join(x.dir, x.CheckpointsFolder, c.Checkpoint, "generation_config.json"), &file)
	for name, value := range file {
		if string(value) != "null" {
			merged[name] = value
		}
	}
	known := map[string]bool{}
	for name, value := range inputs.Arguments {
		merged[name], known[name] = value, true
	}
	whole, err := json.Marshal(merged)
	if err != nil {
		t.Fatal(err)
	}
	var a generateArguments
	if err := json.Unmarshal(whole, &a); err != nil {
		t.Fatal(err)
	}
	for name := range known {
		if _, ours := officialNames[name]; !ours && !otherArguments[name] {
			t.Fatalf("argument %q is not known: the replay would be of something else", name)
		}
	}
	trace := &goldenTrace{x: x, c: c, prompt: inputs.IDs}
	_, trace.given = inputs.Arguments["decoder_input_ids"]
	trace.settings = a.settings()
	trace.ending = Ending{IDs: a.End}
	if a.Pad != nil {
		trace.ending.Pad, trace.ending.HasPad = *a.Pad, true
	}
	if a.MaxLength != nil {
		trace.ending.MaxLength = *a.MaxLength
	}
	return trace
}

var officialNames = map[string]bool{
	"max_denoising_steps": true, "t_min": true, "t_max": true, "sampler_config": true, "stability_threshold": true,
	"confidence_threshold": true, "eos_token_id": true, "pad_token_id": true, "max_length": true,
}

func (a generateArguments) settings() Settings {
	s := Settings{
		Steps: *a.Steps, EntropyBound: a.Sampler.Bound,
		TemperatureOff: a.TMin == nil || a.TMax == nil,
		StabilityOff:   a.Stability == nil, ConfidenceOff: a.Confidence == nil,
	}
	if !s.TemperatureOff {
		s.TMin, s.TMax = *a.TMin, *a.TMax
	}
	if !s.StabilityOff {
		s.Stability = *a.Stability
	}
	if !s.ConfidenceOff {
		s.Confidence = *a.Confidence
	}
	return s
}

func (g *goldenTrace) rows() int { return len(g.prompt) }

// recorded draws are those of one row of one canvas.
type recorded struct {
	start   []int32
	renoise func(step int) []int32
}

func (r *recorded) ID(at canvas.Address) int32 {
	if at.Purpose == canvas.PurposeInitial {
		return r.start[at.Position]
	}
	return r.renoise(int(at.Step))[at.Position]
}

// replay runs all canvases of a row and returns the number of steps compared.
func (g *goldenTrace) replay(t *testing.T, row int, largest map[string]float64) int {
	t.Helper()
	draws := &recorded{}
	sampler, err := New(g.settings, Answer{}, draws)
	if err != nil {
		t.Fatal(err)
	}
	steps, finished := 0, false
	length := len(g.prompt[row])
	for index := 0; ; index++ {
		prefix := fmt.Sprintf("c%d.", index)
		if _, ok := g.c.Tensors[prefix+"start"]; !ok {
			if index == 0 {
				t.Fatal("a trace without a canvas")
			}
			return steps
		}
		start, initial := g.x.ids(t, g.c, prefix+"start").at(row), g.x.ids(t, g.c, prefix+"initial").at(row)
		if !g.given || index > 0 {
			equal(t, prefix+"start", initial, start)
		}
		renoise := g.x.ids(t, g.c, prefix+"renoise")
		draws.start, draws.renoise = start, func(step int) []int32 { return renoise.at(step, row) }
		begun, err := sampler.Begin(Canvas{Index: index, Length: len(start)})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, prefix+"start", start, begun)
		steps += g.replayCanvas(t, sampler, prefix, row, largest)
		if t.Failed() {
			return steps
		}
		length += len(start)
		final := append([]int32(nil), sampler.Best()...)
		finished = g.ending.Finalize(final, length, finished)
		equal(t, prefix+"final", g.x.ids(t, g.c, prefix+"final").at(row), final)
	}
}

func (g *goldenTrace) replayCanvas(t *testing.T, sampler *Sampler, prefix string, row int, largest map[string]float64) int {
	t.Helper()
	ids := func(key string) array[int32] { return g.x.ids(t, g.c, prefix+key) }
	floats := func(key string) array[float32] { return g.x.floats(t, g.c, prefix+key) }
	flags := func(key string) array[bool] { return g.x.flags(t, g.c, prefix+key) }
	before, argmax, sampled, next, kept := ids("canvas"), ids("argmax"), ids("sampled"), ids("next"), ids("argmax_kept")
	entropy, slack, mean, temperature := floats("entropy"), floats("accept_slack"), floats("mean_entropy"), floats("temperature")
	accept, stable, stop, done, wasDone := flags("accept"), flags("stable"), flags("stop"), flags("done"), flags("was_done")
	cur := ids("cur_step")

	stats := make([]canvas.Stats, len(before.at(0, row)))
	for s := range before.shape[0] {
		if wasDone.at(s, row)[0] {
			if sampler.Stopped() != Converged {
				t.Fatalf("%sstep %d: the row is done, the sampler says %v", prefix, s, sampler.Stopped())
			}
			equal(t, fmt.Sprintf("%sstep %d: frozen argmax", prefix, s), kept.at(s, row), sampler.Best())
			continue
		}
		pass, err := sampler.Step()
		if err != nil {
			t.Fatalf("%sstep %d: %v", prefix, s, err)
		}
		where := fmt.Sprintf("%sstep %d: ", prefix, s)
		equal(t, where+"canvas", before.at(s, row), pass.IDs)
		equal(t, where+"temperature", temperature.at(s)[0], pass.Temperature)
		equal(t, where+"remaining steps", int(cur.at(s)[0]), g.settings.Steps-pass.Index)
		for i := range stats {
			stats[i] = canvas.Stats{Argmax: argmax.at(s, row)[i], Entropy: entropy.at(s, row)[i], Sample: sampled.at(s, row)[i]}
		}
		d, err := sampler.Observe(stats)
		if err != nil {
			t.Fatal(err)
		}
		// Closer to the cut than float32 sums can tell, the mask is not defined;
		// what follows it is then not ours to compare.
		if undecided := 1e-6 * max(1, g.settings.EntropyBound); slack.at(s, row)[0] < undecided && cmp.Diff(accept.at(s, row), d.Accepted) != "" {
			t.Logf("%sacceptance is %v from a tie and differs: the rest of the canvas is not compared", where, slack.at(s, row)[0])
			return s
		}
		equal(t, where+"accept", accept.at(s, row), d.Accepted)
		equal(t, where+"accepted", count(accept.at(s, row)), d.AcceptedCount)
		equal(t, where+"next", next.at(s, row), d.Next)
		equal(t, where+"argmax", kept.at(s, row), d.Best)
		wantMean := mean.at(s, row)[0]
		record(largest, "mean_entropy", float64(d.MeanEntropy-wantMean))
		if limit := 1e-6 * max(1, math.Abs(float64(wantMean))); math.Abs(float64(d.MeanEntropy-wantMean)) > limit {
			t.Errorf("%smean entropy %v, want %v within %v", where, d.MeanEntropy, wantMean, limit)
		}
		equal(t, where+"stable", stable.at(s, row)[0], d.Stable)
		equal(t, where+"stop", stop.at(s, row)[0], d.Stable && d.Confident)
		equal(t, where+"done", done.at(s, row)[0], d.Stop == Converged)
		if t.Failed() {
			return s
		}
	}
	if sampler.Stopped() == NotStopped {
		t.Errorf("%sthe trace ends after %d steps, the sampler goes on", prefix, sampler.Steps())
	}
	return sampler.Steps()
}

func equal[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want (-), got (+):\n%s", what, diff)
	}
}
