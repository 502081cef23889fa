package eval

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/jsonfile"
)

// allowedErrors is how many standard errors a comparison allows.
const allowedErrors = 2

// rounding forgives what floating point loses where a difference lies exactly
// on its limit.
const rounding = 1e-9

// AllBuckets is the Bucket of a comparison over all of them.
const AllBuckets = "all"

// Paired compares the exact share of diffusion mode with that of recorded
// official outputs on the same puzzles.
type Paired struct {
	Bucket  string `json:"bucket"`
	Puzzles int    `json:"puzzles"`
	// Ours averages over seeds. Difference is the mean of ours minus official a
	// puzzle, with the standard error of that mean.
	Ours       float64  `json:"ours"`
	Official   float64  `json:"official"`
	Difference Estimate `json:"difference"`
	// Limit is the least Difference that passes: minus two standard errors.
	Limit float64 `json:"limit"`
	Pass  bool    `json:"pass"`
}

// AgainstOfficial compares a report with the official outputs that its puzzles
// carry: one entry a bucket, and one over all of them when there are several.
// Puzzles without an official output or without a result are left out.
func (r Report) AgainstOfficial(puzzles []Puzzle) []Paired {
	official := map[string]map[int]float64{}
	for _, p := range puzzles {
		if p.Official == nil {
			continue
		}
		if official[p.Bucket] == nil {
			official[p.Bucket] = map[int]float64{}
		}
		official[p.Bucket][p.ID] = exact(Result{Exact: p.Official.Exact})
	}
	var (
		pairs             []Paired
		allOurs, allTheir []float64
	)
	for _, row := range r.Rows() {
		if row.Mode != engine.Diffusion {
			continue
		}
		var ours, theirs []float64
		for _, attempts := range byPuzzle(r.only(row.Bucket, row.Mode)) {
			recorded, ok := official[row.Bucket][attempts[0].Puzzle]
			if !ok {
				continue
			}
			ours = append(ours, estimate(attempts, exact).Mean)
			theirs = append(theirs, recorded)
		}
		if len(ours) > 0 {
			pairs = append(pairs, pair(row.Bucket, ours, theirs))
			allOurs, allTheir = append(allOurs, ours...), append(allTheir, theirs...)
		}
	}
	if len(pairs) > 1 {
		pairs = append(pairs, pair(AllBuckets, allOurs, allTheir))
	}
	return pairs
}

// only returns the results of one bucket and mode.
func (r Report) only(bucket string, mode engine.Mode) []Result {
	var results []Result
	for _, result := range r.Results {
		if result.Bucket == bucket && result.Mode == mode {
			results = append(results, result)
		}
	}
	return results
}

// pair compares two shares puzzle by puzzle.
func pair(bucket string, ours, theirs []float64) Paired {
	differences := make([]float64, len(ours))
	for i := range ours {
		differences[i] = ours[i] - theirs[i]
	}
	p := Paired{
		Bucket: bucket, Puzzles: len(ours),
		Ours: meanAndError(ours).Mean, Official: meanAndError(theirs).Mean,
		Difference: meanAndError(differences),
	}
	p.Limit = 0 - float64(allowedErrors*p.Difference.SE)
	p.Pass = p.Difference.Mean >= p.Limit-rounding
	return p
}

// A Share is a published exact share.
type Share struct {
	Bucket string
	Mode   engine.Mode
	// Exact is the share, 0 … 1, of Puzzles puzzles.
	Exact   float64
	Puzzles int
}

// ShareMargin is how far below a published share a share may lie, beside two of
// its own standard errors: the published figures have a sampling error of 1 to 3
// points.
const ShareMargin = 0.03

// A ShareComparison compares an exact share on other puzzles with a published
// one.
type ShareComparison struct {
	Bucket    string      `json:"bucket"`
	Mode      engine.Mode `json:"mode"`
	Puzzles   int         `json:"puzzles"`
	Ours      Estimate    `json:"ours"`
	Published float64     `json:"published"`
	// Limit is the least share that passes: Published minus ShareMargin minus
	// two standard errors of ours.
	Limit float64 `json:"limit"`
	Pass  bool    `json:"pass"`
}

// AgainstShares compares each row that has a published share.
func (r Report) AgainstShares(shares []Share) []ShareComparison {
	var comparisons []ShareComparison
	for _, row := range r.Rows() {
		for _, s := range shares {
			if s.Bucket != row.Bucket || s.Mode != row.Mode {
				continue
			}
			c := ShareComparison{Bucket: row.Bucket, Mode: row.Mode, Puzzles: row.Puzzles, Ours: row.Exact, Published: s.Exact}
			c.Limit = s.Exact - ShareMargin - float64(allowedErrors*row.Exact.SE)
			c.Pass = row.Exact.Mean >= c.Limit-rounding
			comparisons = append(comparisons, c)
		}
	}
	return comparisons
}

// LoadShares reads the published shares of a model from the file measured.json
// beside it.
func LoadShares(path string) ([]Share, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	shares, err := ParseShares(data)
	if err != nil {
		return nil, fmt.Errorf("eval: %s: %w", path, err)
	}
	return shares, nil
}

// ParseShares reads the content of measured.json: of the figures for the weights
// as shipped (bfloat16), those for the largest step cap and for greedy decoding
// from left to right.
func ParseShares(data []byte) ([]Share, error) {
	var entries []struct {
		File, Method, Weights string
		Exact                 float64
		N                     int
	}
	if err := jsonfile.Unmarshal(data, &entries); err != nil {
		return nil, err
	}
	type key struct {
		bucket string
		mode   engine.Mode
	}
	at := map[key]int{}
	caps := map[key]int{}
	var shares []Share
	for i, e := range entries {
		if e.Weights != "bfloat16" {
			continue
		}
		bucket := strings.TrimSuffix(strings.TrimPrefix(e.File, "eval_"), ".txt")
		k, limit := key{bucket, engine.Autoregressive}, 0
		if e.Method != "greedy left to right" {
			text, ok := strings.CutPrefix(e.Method, "diffusion ")
			n, err := strconv.Atoi(text)
			if !ok || err != nil {
				return nil, fmt.Errorf("entry %d: method %q is not known", i, e.Method)
			}
			k.mode, limit = engine.Diffusion, n
		}
		share := Share{Bucket: bucket, Mode: k.mode, Exact: e.Exact, Puzzles: e.N}
		j, seen := at[k]
		switch {
		case !seen:
			at[k], caps[k] = len(shares), limit
			shares = append(shares, share)
		case limit > caps[k]:
			caps[k], shares[j] = limit, share
		}
	}
	return shares, nil
}
