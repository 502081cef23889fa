package diffusion

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoldenSampler checks each rule alone against the official sampler's
// decisions.
func TestGoldenSampler(t *testing.T) {
	largest := map[string]float64{}
	eachGolden(t, "rules", func(t *testing.T, x *goldenIndex, c goldenCase) {
		switch c.Kind {
		case "accept":
			goldenAccept(t, x, c, largest)
		case "temperature":
			goldenTemperature(t, x, c, largest)
		case "stop":
			goldenStop(t, x, c)
		case "finalize":
			goldenFinalize(t, x, c)
		default:
			t.Fatalf("kind %q is not handled", c.Kind)
		}
	})
	t.Logf("largest errors: %v", largest)
}

func goldenAccept(t *testing.T, x *goldenIndex, c goldenCase, largest map[string]float64) {
	var inputs struct {
		Bounds map[string]struct {
			Accepted int  `json:"accepted"`
			TieAtCut bool `json:"tie_at_cut"`
		} `json:"bounds"`
	}
	c.readInputs(t, &inputs)
	if len(inputs.Bounds) == 0 {
		t.Fatal("no bounds")
	}
	logits, want := x.floats(t, c, "logits"), x.floats(t, c, "entropy").data
	length := logits.shape[0]
	entropy := make([]float32, length)
	pinned := make([]bool, length)
	for i := range entropy {
		row := make([]float64, logits.shape[1])
		for j, z := range logits.at(i) {
			row[j] = float64(z)
		}
		_, h := softmax(row)
		entropy[i] = float32(h)
		record(largest, "entropy", h-float64(want[i]))
		if math.Abs(h-float64(want[i])) > c.tolerance(t, "entropy") {
			t.Errorf("position %d: entropy %v, want %v", i, h, want[i])
		}
	}
	mean, wantMean := meanEntropy(entropy, pinned, length), x.floats(t, c, "mean_entropy").data[0]
	record(largest, "mean_entropy", float64(mean-wantMean))
	if math.Abs(float64(mean-wantMean)) > c.tolerance(t, "entropy") {
		t.Errorf("mean entropy %v, want %v", mean, wantMean)
	}
	for name, bound := range inputs.Bounds {
		b, err := strconv.ParseFloat(name, 32)
		if err != nil {
			t.Fatal(err)
		}
		// Both our entropies and the recorded ones must give the mask.
		for _, h := range [][]float32{entropy, want} {
			accepted := make([]bool, length)
			acceptEntropy(accepted, h, make([]int32, length), float32(b))
			if got := count(accepted); got != bound.Accepted {
				t.Errorf("bound %s: %d accepted, want %d", name, got, bound.Accepted)
			}
			if bound.TieAtCut {
				continue
			}
			if diff := cmp.Diff(x.flags(t, c, "accept_"+name).data, accepted); diff != "" {
				t.Errorf("bound %s: want (-), got (+):\n%s", name, diff)
			}
		}
	}
}

func goldenTemperature(t *testing.T, x *goldenIndex, c goldenCase, largest map[string]float64) {
	var inputs struct {
		Steps int     `json:"max_denoising_steps"`
		TMin  float64 `json:"t_min"`
		TMax  float64 `json:"t_max"`
	}
	c.readInputs(t, &inputs)
	s := Settings{Steps: inputs.Steps, TMin: inputs.TMin, TMax: inputs.TMax}
	want, logits, processed := x.floats(t, c, "temperature").data, x.floats(t, c, "logits").data, x.floats(t, c, "processed")
	if len(want) != s.Steps {
		t.Fatalf("%d temperatures for %d steps", len(want), s.Steps)
	}
	for i := range want {
		got := s.Temperature(s.Steps - i)
		record(largest, "temperature, ulp", float64(ulps(got, want[i])))
		if ulps(got, want[i]) > 1 {
			t.Errorf("step %d: temperature %v, want %v", i, got, want[i])
		}
		for j, z := range processed.at(i) {
			if p := logits[j] / got; math.Abs(float64(p-z)) > 3e-7*math.Abs(float64(z)) {
				t.Errorf("step %d: logit %v becomes %v, want %v", i, logits[j], p, z)
			}
		}
	}
}

type goldenStopInputs struct {
	Stability  int     `json:"stability_threshold"`
	Confidence float32 `json:"confidence_threshold"`
	Scripts    []struct {
		Canvases    []string  `json:"canvases"`
		MeanEntropy []float32 `json:"mean_entropy"`
		Stop        []bool    `json:"stop"`
	} `json:"scripts"`
}

// The named entropies are nominal: the official run made them from float32
// logits. Where one is the threshold itself, that run was within rounding of it,
// on a side that the case does not tell. So a case must agree in every decision
// with all of its ties on the one side, or with all of them on the other.
func goldenStop(t *testing.T, x *goldenIndex, c goldenCase) {
	var inputs goldenStopInputs
	c.readInputs(t, &inputs)
	if len(inputs.Scripts) == 0 {
		t.Fatal("no scripts")
	}
	at := inputs.decisionDiff(t, x, c, inputs.Confidence)
	below := inputs.decisionDiff(t, x, c, math.Nextafter32(inputs.Confidence, 0))
	switch {
	case at != "" && below != "":
		t.Errorf("want (-), got (+):\n%s", at)
	case at != below:
		t.Logf("an entropy named as the threshold was on the other side of a tie; below it: %v", below == "")
	}
}

// decisionDiff runs the scripts of a case, with tie in the place of an entropy
// that equals the threshold.
func (in goldenStopInputs) decisionDiff(t *testing.T, x *goldenIndex, c goldenCase, tie float32) string {
	t.Helper()
	rule := convergence{stability: in.Stability, confidence: in.Confidence}
	var want, got [][]bool
	for _, script := range in.Scripts {
		var stops []bool
		for j, name := range script.Canvases {
			best := x.ids(t, c, "canvas."+name).data
			entropy, pinned := make([]float32, len(best)), make([]bool, len(best))
			for p := range entropy {
				if entropy[p] = script.MeanEntropy[j]; entropy[p] == in.Confidence {
					entropy[p] = tie
				}
			}
			if j == 0 {
				rule.reset(len(best))
			}
			stable, confident := rule.observe(best, meanEntropy(entropy, pinned, len(best)))
			stops = append(stops, stable && confident)
		}
		want, got = append(want, script.Stop), append(got, stops)
	}
	return cmp.Diff(want, got)
}

func goldenFinalize(t *testing.T, x *goldenIndex, c goldenCase) {
	var inputs struct {
		End            tokenList `json:"eos_token_id"`
		Pad            *int32    `json:"pad_token_id"`
		MaxLength      int       `json:"max_length"`
		FinishedBefore []bool    `json:"finished_before"`
		Canvas         int       `json:"canvas_length"`
	}
	c.readInputs(t, &inputs)
	ending := Ending{IDs: inputs.End, MaxLength: inputs.MaxLength}
	if inputs.Pad != nil {
		ending.Pad, ending.HasPad = *inputs.Pad, true
	}
	before, after, finished := x.ids(t, c, "before"), x.ids(t, c, "after"), x.flags(t, c, "finished").data
	for row := range before.shape[0] {
		sequence := append([]int32(nil), before.at(row)...)
		ids := sequence[len(sequence)-inputs.Canvas:]
		if got := ending.Finalize(ids, len(sequence), inputs.FinishedBefore[row]); got != finished[row] {
			t.Errorf("row %d: finished %v, want %v", row, got, finished[row])
		}
		if diff := cmp.Diff(after.at(row), sequence); diff != "" {
			t.Errorf("row %d: want (-), got (+):\n%s", row, diff)
		}
	}
}

// A tokenList is null, one id, or a list of them.
type tokenList []int32

func (l *tokenList) UnmarshalJSON(data []byte) error {
	var one int32
	if err := json.Unmarshal(data, &one); err == nil && string(data) != "null" {
		*l = tokenList{one}
		return nil
	}
	return json.Unmarshal(data, (*[]int32)(l))
}

func count(mask []bool) int {
	n := 0
	for _, set := range mask {
		if set {
			n++
		}
	}
	return n
}

func record(largest map[string]float64, quantity string, err float64) {
	largest[quantity] = max(largest[quantity], math.Abs(err))
}
