package sudoku

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
)

// TestGoldenSolutions: every solution of the puzzle file passes the rule check,
// is the only one, and scores 81 cells.
func TestGoldenSolutions(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixtures.Dir(t, "sudoku"), "eval.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Buckets map[string][]struct {
			ID               int
			Clues            int
			Prompt, Solution string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	cases := 0
	for bucket, puzzles := range file.Buckets {
		for _, p := range puzzles {
			cases++
			t.Run(fmt.Sprintf("%s/%d", bucket, p.ID), func(t *testing.T) {
				_, text, _ := strings.Cut(p.Prompt, "\n")
				puzzle, err := Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				if puzzle.Clues() != p.Clues {
					t.Errorf("%d clues, want %d", puzzle.Clues(), p.Clues)
				}
				if v := Check(text, p.Solution); !v.Solved {
					t.Error(v)
				}
				if found := Solutions(puzzle, 2); len(found) != 1 || found[0].String() != p.Solution {
					t.Errorf("%d solutions, want this one:\n%s\ngot:\n%v", len(found), p.Solution, found)
				}
				if n := RightCells(p.Solution, p.Solution); n != Cells {
					t.Errorf("%d cells right", n)
				}
			})
		}
	}
	if cases == 0 {
		t.Fatal("no cases")
	}
}
