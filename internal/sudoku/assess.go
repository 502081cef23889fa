package sudoku

import (
	"fmt"
	"strings"
)

// searchLimit is how many cells Assess fills before it gives up: some grids
// without a solution take longer than anybody waits. Most puzzles take hundreds.
const searchLimit = 200_000

// Assess says what stands against a puzzle before anybody tries it. impossible
// is the reason why it has no solution, "" when it has one or when the search
// for one takes too long. ambiguous is true when it is known to have several.
func Assess(puzzle Grid) (impossible string, ambiguous bool) {
	if clash := brokenRule(puzzle); clash != "" {
		return "the puzzle has " + clash, false
	}
	b, _ := newBoard(puzzle) // without a clash there is one
	found, filled := 0, 0
	whole := b.search(
		func(set uint16) []uint8 {
			if filled++; filled > searchLimit {
				return nil
			}
			return ascending(set)
		},
		func(Grid) bool { found++; return found < 2 },
	)
	if whole && found == 0 && filled <= searchLimit {
		return "the puzzle has no solution", false
	}
	return "", found > 1
}

// Explain says why a text is no grid. near is true when it is likely that one was
// meant: nearly all of it is cells, and there are nearly enough of them. The
// reason is "" for a text that is a grid and for one that is far from it.
func Explain(text string) (reason string, near bool) {
	_, err := Read(text)
	if err == nil {
		return "", false
	}
	cells, others := 0, 0
	for _, mark := range text {
		_, digit := digitOf(mark)
		switch {
		case digit || strings.ContainsRune(emptyMarks, mark):
			cells++
		case mark != '\n' && mark != '\r' && !isDecoration(mark):
			others++
		}
	}
	const slack = 11 // a row and a little
	if cells < Cells-slack || cells > Cells+slack || 4*others > cells {
		return "", false
	}
	reason = strings.TrimPrefix(err.Error(), "sudoku: ")
	if cells != Cells {
		count := fmt.Sprintf("%d cells, want %d", cells, Cells)
		if reason == fmt.Sprintf("%d cells, not %d", cells, Cells) {
			return count, true
		}
		return count + ": " + reason, true
	}
	return reason, true
}
