package eval

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/frescolm/fresco/internal/jsonfile"
	"github.com/frescolm/fresco/internal/sudoku"
)

// heading begins the prompt of every puzzle.
const heading = "sudoku\n"

// A Puzzle is one Sudoku to be solved.
type Puzzle struct {
	// Bucket groups puzzles by their number of clues, for example "46-55"; ID
	// names the puzzle within it.
	Bucket string
	ID     int
	Clues  int
	// Prompt is the whole prompt, heading included, before any BOS.
	Prompt string
	// Grid is the puzzle and Solution its only solution, in canonical text.
	Grid, Solution string
	// Official is what the official implementation answered; nil when that was
	// not recorded.
	Official *Official
}

// Official is a recorded answer of the official implementation.
type Official struct {
	Seed           uint64 `json:"seed"`
	Text           string `json:"text"`
	Steps          int    `json:"steps"`
	Exact          bool   `json:"exact"`
	DifferingCells int    `json:"differing_cells"`
}

// LoadPuzzles reads a puzzle file such as eval.json. Every puzzle is checked; an
// error names file, bucket and puzzle. Buckets come with the most clues first.
func LoadPuzzles(path string) ([]Puzzle, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	puzzles, err := parsePuzzles(data)
	if err != nil {
		return nil, fmt.Errorf("eval: %s: %w", path, err)
	}
	return puzzles, nil
}

func parsePuzzles(data []byte) ([]Puzzle, error) {
	var file struct {
		Buckets map[string][]struct {
			ID       int
			Clues    int
			Prompt   string
			Solution string
			Official *Official
		}
	}
	if err := jsonfile.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var puzzles []Puzzle
	for _, bucket := range slices.Sorted(maps.Keys(file.Buckets)) {
		seen := map[int]bool{}
		for _, e := range file.Buckets[bucket] {
			if seen[e.ID] {
				return nil, fmt.Errorf("bucket %s: puzzle %d stands there twice", bucket, e.ID)
			}
			seen[e.ID] = true
			p := Puzzle{Bucket: bucket, ID: e.ID, Prompt: e.Prompt, Solution: e.Solution, Official: e.Official}
			if err := p.complete(e.Clues); err != nil {
				return nil, fmt.Errorf("bucket %s: puzzle %d: %w", bucket, e.ID, err)
			}
			puzzles = append(puzzles, p)
		}
	}
	if len(puzzles) == 0 {
		return nil, errors.New("no puzzles")
	}
	mostClues := map[string]int{}
	for _, p := range puzzles {
		mostClues[p.Bucket] = max(mostClues[p.Bucket], p.Clues)
	}
	slices.SortStableFunc(puzzles, func(a, b Puzzle) int {
		return mostClues[b.Bucket] - mostClues[a.Bucket]
	})
	return puzzles, nil
}

// complete fills in Grid and Clues from the prompt and checks the puzzle.
func (p *Puzzle) complete(clues int) error {
	text, ok := strings.CutPrefix(p.Prompt, heading)
	if !ok {
		return fmt.Errorf("the prompt does not begin with %q", heading)
	}
	grid, err := sudoku.Parse(text)
	if err != nil {
		return err
	}
	p.Grid, p.Clues = grid.String(), grid.Clues()
	if p.Clues != clues {
		return fmt.Errorf("%d clues, but the file says %d", p.Clues, clues)
	}
	if v := sudoku.Check(p.Grid, p.Solution); !v.Solved {
		return fmt.Errorf("the solution is wrong: %s", v.Problem)
	}
	return nil
}

// A Bucket is a range of clue counts, both ends included.
type Bucket struct{ Lo, Hi int }

// ParseBucket reads a range such as "46-55".
func ParseBucket(text string) (Bucket, error) {
	lo, hi, ok := strings.Cut(text, "-")
	b := Bucket{}
	var err error
	if ok {
		if b.Lo, err = strconv.Atoi(lo); err == nil {
			b.Hi, err = strconv.Atoi(hi)
		}
	}
	if !ok || err != nil || b.Lo < sudoku.MinClues || b.Hi > sudoku.Cells || b.Lo > b.Hi {
		return Bucket{}, fmt.Errorf("eval: %q is no range of clues such as 46-55 within %d-%d", text, sudoku.MinClues, sudoku.Cells)
	}
	return b, nil
}

func (b Bucket) String() string { return fmt.Sprintf("%d-%d", b.Lo, b.Hi) }

// GeneratePuzzles makes n puzzles with unique solutions, the same for the same
// arguments. Puzzle i is that of sudoku.Generate with index i.
func GeneratePuzzles(b Bucket, n int, seed uint64) ([]Puzzle, error) {
	puzzles := make([]Puzzle, n)
	for i := range puzzles {
		grid, solution, err := sudoku.Generate(seed, uint64(i), b.Lo, b.Hi)
		if err != nil {
			return nil, fmt.Errorf("eval: bucket %s: puzzle %d: %w", b, i, err)
		}
		puzzles[i] = Puzzle{
			Bucket: b.String(), ID: i, Clues: grid.Clues(), Prompt: heading + grid.String() + "\n",
			Grid: grid.String(), Solution: solution.String(),
		}
	}
	return puzzles, nil
}
