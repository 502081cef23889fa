package eval

import (
	"math"
	"slices"

	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/sudoku"
)

// An Estimate is a mean over puzzles with its standard error, clustered by
// puzzle: the standard deviation (n-1) of the puzzles' own means over √n. The
// standard error is 0 for a single puzzle and where all puzzles agree.
type Estimate struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}

// A Row sums up one arm on one bucket.
type Row struct {
	Bucket   string      `json:"bucket"`
	Mode     engine.Mode `json:"mode"`
	Puzzles  int         `json:"puzzles"`
	Attempts int         `json:"attempts"`
	// Exact is the share of solved puzzles, Cells that of right cells among all
	// 81, Steps the number of denoising steps or one-token passes.
	Exact Estimate `json:"exact"`
	Cells Estimate `json:"cells"`
	Steps Estimate `json:"steps"`
	// Rewritten, WrongToRight and RightToWrong count Rewrites a puzzle; nil
	// where no attempt had any counted.
	Rewritten    *Estimate `json:"rewritten,omitempty"`
	WrongToRight *Estimate `json:"wrong_to_right,omitempty"`
	RightToWrong *Estimate `json:"right_to_wrong,omitempty"`
	// Stops counts canvases by why they stopped, Finish attempts by their
	// finish reason.
	Stops  map[engine.CanvasStop]int   `json:"stops,omitempty"`
	Finish map[engine.FinishReason]int `json:"finish_reasons"`
	// Seconds is the time of an attempt.
	Seconds       Estimate `json:"seconds"`
	MedianSeconds float64  `json:"median_seconds"`
}

// Rows sums up a report: one row for each bucket and mode, in the order in
// which they first appear, the modes of a bucket together.
func (r Report) Rows() []Row {
	type key struct {
		bucket string
		mode   engine.Mode
	}
	groups := map[key][]Result{}
	var buckets []string
	var modes []engine.Mode
	for _, result := range r.Results {
		k := key{result.Bucket, result.Mode}
		groups[k] = append(groups[k], result)
		if !slices.Contains(buckets, result.Bucket) {
			buckets = append(buckets, result.Bucket)
		}
		if !slices.Contains(modes, result.Mode) {
			modes = append(modes, result.Mode)
		}
	}
	var rows []Row
	for _, bucket := range buckets {
		for _, mode := range modes {
			if results := groups[key{bucket, mode}]; len(results) > 0 {
				rows = append(rows, newRow(results))
			}
		}
	}
	return rows
}

// newRow sums up the results of one arm on one bucket.
func newRow(results []Result) Row {
	row := Row{
		Bucket: results[0].Bucket, Mode: results[0].Mode, Attempts: len(results),
		Puzzles: len(byPuzzle(results)),
		Exact:   estimate(results, exact),
		Cells:   estimate(results, func(r Result) float64 { return float64(r.Cells) / sudoku.Cells }),
		Steps:   estimate(results, func(r Result) float64 { return float64(r.Steps) }),
		Seconds: estimate(results, func(r Result) float64 { return r.Seconds }),
		Stops:   map[engine.CanvasStop]int{},
		Finish:  map[engine.FinishReason]int{},
	}
	var seconds []float64
	var drafted []Result
	for _, r := range results {
		seconds = append(seconds, r.Seconds)
		row.Finish[r.Finish]++
		for _, stop := range r.Stops {
			row.Stops[stop]++
		}
		if r.Rewrites != nil {
			drafted = append(drafted, r)
		}
	}
	row.MedianSeconds = median(seconds)
	if len(drafted) > 0 {
		count := func(of func(Rewrites) int) *Estimate {
			e := estimate(drafted, func(r Result) float64 { return float64(of(*r.Rewrites)) })
			return &e
		}
		row.Rewritten = count(func(r Rewrites) int { return r.Changed })
		row.WrongToRight = count(func(r Rewrites) int { return r.WrongToRight })
		row.RightToWrong = count(func(r Rewrites) int { return r.RightToWrong })
	}
	return row
}

// exact is 1 for a solved puzzle.
func exact(r Result) float64 {
	if r.Exact {
		return 1
	}
	return 0
}

// byPuzzle groups results of one bucket by puzzle, in the order in which the
// puzzles first appear.
func byPuzzle(results []Result) [][]Result {
	at := map[int]int{}
	var groups [][]Result
	for _, r := range results {
		i, ok := at[r.Puzzle]
		if !ok {
			i = len(groups)
			at[r.Puzzle] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// estimate averages a quantity over the results of one bucket and mode.
func estimate(results []Result, of func(Result) float64) Estimate {
	var means []float64
	for _, attempts := range byPuzzle(results) {
		sum := 0.0
		for _, r := range attempts {
			sum += of(r)
		}
		means = append(means, sum/float64(len(attempts)))
	}
	return meanAndError(means)
}

// meanAndError returns the mean of values and its standard error.
func meanAndError(values []float64) Estimate {
	n := float64(len(values))
	if n == 0 {
		return Estimate{}
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	e := Estimate{Mean: sum / n}
	if n < 2 {
		return e
	}
	squares := 0.0
	for _, v := range values {
		squares += float64((v - e.Mean) * (v - e.Mean)) // rounded, on every machine
	}
	e.SE = math.Sqrt(squares / (n - 1) / n)
	return e
}

// median returns the middle of values, the mean of the two middle ones for an
// even number, 0 for none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
