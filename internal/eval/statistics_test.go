package eval

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/fixtures"
)

var approximately = cmpopts.EquateApprox(0, 1e-9)

// attempts makes results of one bucket in diffusion mode from the exactness of
// each puzzle's attempts, one letter each: "x" solved, "-" not.
func attempts(bucket string, puzzles ...string) []Result {
	var results []Result
	for id, marks := range puzzles {
		for seed, mark := range marks {
			r := Result{Bucket: bucket, Puzzle: id, Mode: engine.Diffusion, Seed: uint64(seed), Finish: engine.FinishStop, Steps: 4, Cells: 72, Seconds: 1}
			if mark == 'x' {
				r.Exact, r.Cells, r.Steps, r.Seconds = true, 81, 2, 0.5
			}
			results = append(results, r)
		}
	}
	return results
}

func TestMeanAndError(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Estimate
	}{
		{nil, Estimate{}},
		{[]float64{3}, Estimate{Mean: 3}},
		{[]float64{2, 2, 2}, Estimate{Mean: 2}},
		{[]float64{0, 1}, Estimate{Mean: 0.5, SE: 0.5}},
		{[]float64{1, 2, 3, 4}, Estimate{Mean: 2.5, SE: math.Sqrt(5.0 / 3 / 4)}},
	} {
		if diff := cmp.Diff(c.want, meanAndError(c.values), approximately); diff != "" {
			t.Errorf("%v: %s", c.values, diff)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{5}, 5}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

func TestRows(t *testing.T) {
	results := attempts("46-55", "xx", "x-")
	for i := range results {
		results[i].Stops = []engine.CanvasStop{engine.StopConverged}
		results[i].Rewrites = &Rewrites{Changed: 4, WrongToRight: 2, RightToWrong: i}
	}
	greedy := results[3]
	greedy.Mode, greedy.Stops, greedy.Rewrites, greedy.Finish = engine.Autoregressive, nil, nil, engine.FinishLength
	other := attempts("40-45", "x")
	// Modes and buckets come mixed, as a plan makes them.
	report := Report{Results: []Result{results[0], greedy, results[1], other[0], results[2], results[3]}}
	three, half := 1.5, 0.5
	want := []Row{
		{
			Bucket: "46-55", Mode: engine.Diffusion, Puzzles: 2, Attempts: 4,
			// The puzzles' own means are 1 and 1/2, so the mean is 3/4 with an
			// error of 1/4, though four attempts were made.
			Exact: Estimate{0.75, 0.25}, Cells: Estimate{(1 + 153.0/162) / 2, (1 - 153.0/162) / 2},
			Steps: Estimate{2.5, 0.5}, Seconds: Estimate{0.625, 0.125}, MedianSeconds: half,
			Rewritten: &Estimate{4, 0}, WrongToRight: &Estimate{2, 0}, RightToWrong: &Estimate{three, 1},
			Stops: map[engine.CanvasStop]int{engine.StopConverged: 4}, Finish: map[engine.FinishReason]int{engine.FinishStop: 4},
		},
		{
			Bucket: "46-55", Mode: engine.Autoregressive, Puzzles: 1, Attempts: 1,
			Cells: Estimate{Mean: 72.0 / 81}, Steps: Estimate{Mean: 4}, Seconds: Estimate{Mean: 1}, MedianSeconds: 1,
			Stops: map[engine.CanvasStop]int{}, Finish: map[engine.FinishReason]int{engine.FinishLength: 1},
		},
		{
			Bucket: "40-45", Mode: engine.Diffusion, Puzzles: 1, Attempts: 1,
			Exact: Estimate{Mean: 1}, Cells: Estimate{Mean: 1}, Steps: Estimate{Mean: 2}, Seconds: Estimate{Mean: 0.5}, MedianSeconds: 0.5,
			Stops: map[engine.CanvasStop]int{}, Finish: map[engine.FinishReason]int{engine.FinishStop: 1},
		},
	}
	if diff := cmp.Diff(want, report.Rows(), approximately); diff != "" {
		t.Error(diff)
	}
}

// recorded makes puzzles of a bucket with official outputs, one letter each; "?"
// has none.
func recorded(bucket, marks string) []Puzzle {
	var puzzles []Puzzle
	for id, mark := range marks {
		p := Puzzle{Bucket: bucket, ID: id}
		if mark != '?' {
			p.Official = &Official{Exact: mark == 'x'}
		}
		puzzles = append(puzzles, p)
	}
	return puzzles
}

func TestAgainstOfficial(t *testing.T) {
	for _, c := range []struct {
		name     string
		results  []Result
		official []Puzzle
		want     []Paired
	}{
		{"nothing recorded", attempts("a", "x"), recorded("a", "?"), nil},
		{"all equal", attempts("a", "xx", "--"), recorded("a", "x-"), []Paired{
			{Bucket: "a", Puzzles: 2, Ours: 0.5, Official: 0.5, Pass: true}}},
		{"within two errors", attempts("a", "x-", "xx"), recorded("a", "xx"), []Paired{
			{Bucket: "a", Puzzles: 2, Ours: 0.75, Official: 1, Difference: Estimate{-0.25, 0.25}, Limit: -0.5, Pass: true}}},
		{"worse on every puzzle", attempts("a", "x-", "-x"), recorded("a", "xx"), []Paired{
			{Bucket: "a", Puzzles: 2, Ours: 0.5, Official: 1, Difference: Estimate{-0.5, 0}, Pass: false}}},
		{"better", attempts("a", "x", "x"), recorded("a", "--"), []Paired{
			{Bucket: "a", Puzzles: 2, Ours: 1, Difference: Estimate{1, 0}, Pass: true}}},
		{"puzzles without a record are left out", attempts("a", "-", "x"), recorded("a", "?x"), []Paired{
			{Bucket: "a", Puzzles: 1, Ours: 1, Official: 1, Pass: true}}},
		{"two buckets", append(attempts("a", "x"), attempts("b", "-")...), append(recorded("a", "x"), recorded("b", "x")...), []Paired{
			{Bucket: "a", Puzzles: 1, Ours: 1, Official: 1, Pass: true},
			{Bucket: "b", Puzzles: 1, Ours: 0, Official: 1, Difference: Estimate{Mean: -1}, Pass: false},
			{Bucket: "all", Puzzles: 2, Ours: 0.5, Official: 1, Difference: Estimate{-0.5, 0.5}, Limit: -1, Pass: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Report{Results: c.results}.AgainstOfficial(c.official)
			if diff := cmp.Diff(c.want, got, approximately); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAgainstOfficialLooksAtDiffusionOnly(t *testing.T) {
	results := attempts("a", "x")
	results[0].Mode = engine.Autoregressive
	if got := (Report{Results: results}).AgainstOfficial(recorded("a", "x")); got != nil {
		t.Errorf("compared %+v", got)
	}
}

func TestAgainstShares(t *testing.T) {
	// 3 of 4: an error of 1/4, so two of them are half the scale.
	results := attempts("a", "x", "x", "x", "-")
	for _, c := range []struct {
		name      string
		published float64
		pass      bool
	}{
		{"below ours", 0.5, true},
		{"on the limit", 0.75 + 0.03 + 0.5, true},
		{"beyond it", 0.75 + 0.03 + 0.5 + 1e-6, false},
	} {
		shares := []Share{{Bucket: "b", Mode: engine.Diffusion, Exact: 1}, {Bucket: "a", Mode: engine.Autoregressive, Exact: 1},
			{Bucket: "a", Mode: engine.Diffusion, Exact: c.published, Puzzles: 200}}
		want := []ShareComparison{{
			Bucket: "a", Mode: engine.Diffusion, Puzzles: 4, Ours: Estimate{0.75, 0.25},
			Published: c.published, Limit: c.published - 0.53, Pass: c.pass,
		}}
		if diff := cmp.Diff(want, Report{Results: results}.AgainstShares(shares), approximately); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestParseShares(t *testing.T) {
	got, err := ParseShares([]byte(`[
		{"file":"eval_40-45.txt","method":"diffusion 12","exact":0.5,"n":10,"weights":"bfloat16"},
		{"file":"eval_40-45.txt","method":"diffusion 48","exact":0.6,"n":20,"weights":"bfloat16","steps":4.4},
		{"file":"eval_40-45.txt","method":"diffusion 24","exact":0.7,"n":30,"weights":"bfloat16"},
		{"file":"eval_40-45.txt","method":"diffusion 96","exact":0.8,"n":40,"weights":"float32"},
		{"file":"eval_40-45.txt","method":"greedy left to right","exact":0.1,"n":50,"weights":"bfloat16"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Share{
		{Bucket: "40-45", Mode: engine.Diffusion, Exact: 0.6, Puzzles: 20},
		{Bucket: "40-45", Mode: engine.Autoregressive, Exact: 0.1, Puzzles: 50},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{`, `[{"method":"beam 4","weights":"bfloat16"}]`, `[{"method":"diffusion x","weights":"bfloat16"}]`} {
		if _, err := ParseShares([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

// TestGoldenShares: the measured file has a share of both modes for every bucket
// of the puzzle file.
func TestGoldenShares(t *testing.T) {
	dir := fixtures.Dir(t, "sudoku")
	shares, err := LoadShares(filepath.Join(dir, "measured.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no published shares: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	puzzles, err := LoadPuzzles(filepath.Join(dir, "eval.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range puzzles {
		found := map[engine.Mode]bool{}
		for _, s := range shares {
			if s.Bucket == p.Bucket && s.Exact >= 0 && s.Exact <= 1 && s.Puzzles > 0 {
				found[s.Mode] = true
			}
		}
		if len(found) != 2 {
			t.Fatalf("bucket %s has shares for %v", p.Bucket, found)
		}
	}
}
