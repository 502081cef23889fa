package sudoku

import (
	"fmt"
	"strings"
)

// Cells is the number of cells of a grid.
const Cells = 81

// A Grid holds the cells row by row: 0 is empty, 1 … 9 a digit. The zero value
// is the empty grid.
type Grid [Cells]uint8

// Parse reads the canonical text: nine lines of nine cells, "." for an empty
// one. One newline at the end is allowed, nothing else.
func Parse(text string) (Grid, error) {
	var g Grid
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for r, line := range lines {
		if r == 9 {
			break
		}
		cells := []rune(line)
		for c, mark := range cells {
			digit, ok := digitOf(mark)
			switch {
			case !ok && mark != '.':
				return Grid{}, fmt.Errorf("sudoku: row %d column %d: %q is not a cell", r+1, c+1, mark)
			case c < 9:
				g[9*r+c] = digit
			}
		}
		if len(cells) != 9 {
			return Grid{}, fmt.Errorf("sudoku: row %d has %d cells, not 9", r+1, len(cells))
		}
	}
	if len(lines) != 9 {
		return Grid{}, fmt.Errorf("sudoku: %d rows, not 9", len(lines))
	}
	return g, nil
}

// digitOf returns the digit 1 … 9 that a character stands for.
func digitOf(mark rune) (uint8, bool) {
	if mark < '1' || mark > '9' {
		return 0, false
	}
	return uint8(mark - '0'), true
}

// String returns the canonical text.
func (g Grid) String() string {
	var b strings.Builder
	for i, digit := range g {
		if i > 0 && i%9 == 0 {
			b.WriteByte('\n')
		}
		if digit == 0 {
			b.WriteByte('.')
		} else {
			b.WriteByte('0' + digit)
		}
	}
	return b.String()
}

// Clues counts the cells that are not empty.
func (g Grid) Clues() int {
	n := 0
	for _, digit := range g {
		if digit != 0 {
			n++
		}
	}
	return n
}

// boxOf returns the box, 0 … 8, of a cell.
func boxOf(cell int) int { return cell/27*3 + cell%9/3 }
