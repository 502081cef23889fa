package sudoku

import (
	"fmt"
	"strings"
)

// A Verdict says whether an answer solves a puzzle.
type Verdict struct {
	Solved bool
	// Problem says what is wrong first, in words; "" when Solved.
	Problem string
}

func (v Verdict) String() string {
	if v.Solved {
		return "solved"
	}
	return "not solved: " + v.Problem
}

// Check decides by the rules alone whether answer solves puzzle, without
// knowing a solution. The puzzle is read as Read does; the answer must be nine
// lines of nine digits and nothing else, not even a newline at the end. Its
// layout is looked at first, then whether every clue was kept, then rows,
// columns and boxes.
func Check(puzzle, answer string) Verdict {
	given, err := Read(puzzle)
	if err != nil {
		return Verdict{Problem: "the puzzle is no grid: " + strings.TrimPrefix(err.Error(), "sudoku: ")}
	}
	grid, problem := parseAnswer(answer)
	if problem == "" {
		problem = changedClue(given, grid)
	}
	if problem == "" {
		problem = brokenRule(grid)
	}
	return Verdict{Solved: problem == "", Problem: problem}
}

// parseAnswer reads nine lines of nine digits and says what is wrong with the
// layout.
func parseAnswer(answer string) (Grid, string) {
	if answer == "" {
		return Grid{}, "the answer is empty"
	}
	if strings.HasSuffix(answer, "\n") {
		return Grid{}, "a newline after the last row"
	}
	grid, err := Parse(answer)
	if err != nil {
		return Grid{}, strings.TrimPrefix(err.Error(), "sudoku: ")
	}
	for cell, digit := range grid {
		if digit == 0 {
			return Grid{}, fmt.Sprintf("row %d column %d is empty", cell/9+1, cell%9+1)
		}
	}
	return grid, ""
}

func changedClue(given, grid Grid) string {
	for cell, clue := range given {
		if clue != 0 && grid[cell] != clue {
			return fmt.Sprintf("clue at row %d column %d changed from %d to %d", cell/9+1, cell%9+1, clue, grid[cell])
		}
	}
	return ""
}

// brokenRule names the first digit that stands twice in a row, column or box, ""
// where none does, in words such as "two 5s in row 1".
func brokenRule(grid Grid) string {
	units := []struct {
		name string
		cell func(unit, k int) int
	}{
		{"row", func(unit, k int) int { return 9*unit + k }},
		{"column", func(unit, k int) int { return 9*k + unit }},
		{"box", func(unit, k int) int { return unit/3*27 + unit%3*3 + k/3*9 + k%3 }},
	}
	counts := []string{"", "", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	for _, u := range units {
		for unit := range 9 {
			var seen [10]int
			for k := range 9 {
				seen[grid[u.cell(unit, k)]]++
			}
			for digit := 1; digit <= 9; digit++ {
				if n := seen[digit]; n > 1 {
					return fmt.Sprintf("%s %ds in %s %d", counts[n], digit, u.name, unit+1)
				}
			}
		}
	}
	return ""
}

// RightCells counts the cells of an answer, 0 … 81, that agree with a solution.
// Cells are found by their place in the canonical text, so an answer of any
// form can be compared.
func RightCells(answer, solution string) int {
	got, want := []rune(answer), []rune(solution)
	right := 0
	for cell := range Cells {
		at := cell/9*10 + cell%9
		if at < len(got) && at < len(want) && got[at] == want[at] {
			right++
		}
	}
	return right
}
