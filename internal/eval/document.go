package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/frescolm/fresco/internal/engine"
)

// A Setup says what was measured, and on what.
type Setup struct {
	Model   string `json:"model"`
	Version string `json:"version"`
	// Series names the generated puzzles, File the file that they come from; one
	// of the two.
	Series *uint64 `json:"series,omitempty"`
	File   string  `json:"file,omitempty"`
	// Arithmetic, CPU (the kernel class) and Threads are as used.
	Arithmetic string `json:"arithmetic"`
	CPU        string `json:"cpu"`
	Threads    int    `json:"threads"`
	// PlannedPuzzles and PlannedAttempts are what there would be without an
	// interruption.
	PlannedPuzzles  int  `json:"planned_puzzles"`
	PlannedAttempts int  `json:"planned_attempts"`
	Interrupted     bool `json:"interrupted"`
}

// A Document is everything that is said about a report.
type Document struct {
	Task string `json:"task"`
	Setup
	Rows     []Row             `json:"rows"`
	Official []Paired          `json:"official,omitempty"`
	Shares   []ShareComparison `json:"shares,omitempty"`
	Results  []Result          `json:"results"`
}

// NewDocument sums up a report on puzzles and compares it with their official
// outputs and with published shares, where there are any.
func NewDocument(setup Setup, r Report, puzzles []Puzzle, shares []Share) Document {
	return Document{
		Task: "sudoku", Setup: setup, Rows: r.Rows(),
		Official: r.AgainstOfficial(puzzles), Shares: r.AgainstShares(shares),
		Results: r.Results,
	}
}

// Pass reports whether every comparison passes.
func (d Document) Pass() bool {
	return !slices.ContainsFunc(d.Official, func(p Paired) bool { return !p.Pass }) &&
		!slices.ContainsFunc(d.Shares, func(c ShareComparison) bool { return !c.Pass })
}

// WriteJSON writes the document as one indented JSON object.
func (d Document) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// WriteText writes the document as tables: a block for each bucket with the
// modes side by side, then the comparisons.
func (d Document) WriteText(w io.Writer) error {
	var text strings.Builder // so that one write can fail, not many
	t := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	for start := 0; start < len(d.Rows); {
		end := start
		for end < len(d.Rows) && d.Rows[end].Bucket == d.Rows[start].Bucket {
			end++
		}
		writeBucket(t, d.Rows[start:end])
		start = end
	}
	if len(d.Official) > 0 {
		line(t, "exact, against the official outputs", "puzzles", "ours", "official", "difference", "limit", "result")
		for _, p := range d.Official {
			line(t, "  "+p.Bucket+" clues", fmt.Sprint(p.Puzzles), percent(p.Ours), percent(p.Official), signedPoints(p.Difference), points(p.Limit), passed(p.Pass))
		}
		line(t)
	}
	if len(d.Shares) > 0 {
		line(t, "exact, against the published share", "puzzles", "ours", "published", "limit", "result")
		for _, c := range d.Shares {
			line(t, fmt.Sprintf("  %s clues, %s", c.Bucket, c.Mode), fmt.Sprint(c.Puzzles), share(c.Ours, c.Puzzles), percent(c.Published), percent(c.Limit), passed(c.Pass))
		}
		line(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// writeBucket writes the rows of one bucket as columns.
func writeBucket(w io.Writer, rows []Row) {
	write := func(name string, cell func(Row) string) {
		cells := []string{name}
		for _, row := range rows {
			cells = append(cells, cell(row))
		}
		line(w, cells...)
	}
	write(rows[0].Bucket+" clues", func(r Row) string { return string(r.Mode) })
	write("  puzzles, attempts", func(r Row) string { return fmt.Sprintf("%d, %d", r.Puzzles, r.Attempts) })
	write("  exact by rule check", func(r Row) string { return share(r.Exact, r.Puzzles) })
	write("  cells right", func(r Row) string { return share(r.Cells, r.Puzzles) })
	write("  steps", func(r Row) string { return mean(&r.Steps) })
	write("  stopped by", func(r Row) string {
		if r.Mode == engine.Autoregressive {
			return counts(r.Finish)
		}
		return counts(r.Stops)
	})
	write("  cells rewritten", func(r Row) string { return mean(r.Rewritten) })
	write("  wrong to right", func(r Row) string { return mean(r.WrongToRight) })
	write("  right to wrong", func(r Row) string { return mean(r.RightToWrong) })
	write("  seconds, mean", func(r Row) string { return fmt.Sprintf("%.3f", r.Seconds.Mean) })
	write("  seconds, median", func(r Row) string { return fmt.Sprintf("%.3f", r.MedianSeconds) })
	line(w)
}

// line writes cells separated by tabs.
func line(w io.Writer, cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// share writes a share of n puzzles. Where all of them agree there is no standard
// error to be had, and how many they are says more.
func share(e Estimate, n int) string {
	switch {
	case e.SE > 0:
		return fmt.Sprintf("%.1f ± %.1f %%", 100*e.Mean, 100*e.SE)
	case e.Mean == 1:
		return fmt.Sprintf("%s (%d of %d)", percent(e.Mean), n, n)
	case e.Mean == 0:
		return fmt.Sprintf("%s (0 of %d)", percent(e.Mean), n)
	}
	return fmt.Sprintf("%s (each of %d)", percent(e.Mean), n)
}

func points(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }

func signedPoints(e Estimate) string { return fmt.Sprintf("%+.1f ± %.1f", 100*e.Mean, 100*e.SE) }

func mean(e *Estimate) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f ± %.1f", e.Mean, e.SE)
}

// counts lists what was counted, the most frequent first.
func counts[K ~string](n map[K]int) string {
	keys := slices.SortedFunc(maps.Keys(n), func(a, b K) int {
		if d := n[b] - n[a]; d != 0 {
			return d
		}
		return strings.Compare(string(a), string(b))
	})
	if len(keys) == 0 {
		return "-"
	}
	var list []string
	for _, k := range keys {
		list = append(list, fmt.Sprintf("%s %d", k, n[k]))
	}
	return strings.Join(list, ", ")
}

func passed(ok bool) string {
	if ok {
		return "pass"
	}
	return "FAIL"
}
