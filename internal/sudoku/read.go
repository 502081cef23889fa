package sudoku

import (
	"fmt"
	"strings"
)

// emptyMarks are what people write into an empty cell.
const emptyMarks = ".0_*xX"

// Read reads a grid as people write it: empty cells as ".", "0", "_", "*" or
// "x"; nine lines of nine cells or all 81 on one line; white space, "|", "+",
// "-", commas and line-drawing characters anywhere between them; lines without a
// cell anywhere. Between commas nothing is an empty cell, and so is a blank where
// nine lines give every cell its own column, or every second column.
func Read(text string) (Grid, error) {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	rows, err := marked(lines)
	if err != nil {
		return Grid{}, err
	}
	g, err := assemble(rows)
	if err == nil {
		return g, nil
	}
	for _, stride := range []int{1, 2} {
		if g, ok := columns(text, stride); ok {
			return g, nil
		}
	}
	return Grid{}, err
}

// marked reads the cells of every line that has any.
func marked(lines []string) ([][]uint8, error) {
	var rows [][]uint8
	for n, line := range lines {
		if row, ok := commaSeparated(line); ok {
			rows = append(rows, row)
			continue
		}
		var row []uint8
		for _, mark := range line {
			digit, ok := digitOf(mark)
			switch {
			case ok || strings.ContainsRune(emptyMarks, mark):
				row = append(row, digit)
			case !isDecoration(mark):
				return nil, fmt.Errorf("sudoku: line %d: %q is neither a cell nor decoration", n+1, mark)
			}
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// assemble makes a grid of one row of 81 cells or of nine rows of nine.
func assemble(rows [][]uint8) (g Grid, err error) {
	if len(rows) == 1 {
		if len(rows[0]) != Cells {
			return Grid{}, fmt.Errorf("sudoku: %d cells, not %d", len(rows[0]), Cells)
		}
		copy(g[:], rows[0])
		return g, nil
	}
	for r, row := range rows {
		if len(row) != 9 {
			return Grid{}, fmt.Errorf("sudoku: row %d has %d cells, not 9", r+1, len(row))
		}
		if r < 9 {
			copy(g[9*r:], row)
		}
	}
	if len(rows) != 9 {
		return Grid{}, fmt.Errorf("sudoku: %d rows, not 9", len(rows))
	}
	return g, nil
}

// commaSeparated reads a line of 9 or 81 fields between commas, one of which may
// be empty; a comma may end the line.
func commaSeparated(line string) ([]uint8, bool) {
	fields := strings.Split(strings.TrimRight(line, " \t"), ",")
	if n := len(fields); (n == 10 || n == Cells+1) && fields[n-1] == "" {
		fields = fields[:n-1]
	}
	if len(fields) != 9 && len(fields) != Cells {
		return nil, false
	}
	row := make([]uint8, len(fields))
	for i, field := range fields {
		var ok bool
		if row[i], ok = cellOf(strings.TrimSpace(field)); !ok {
			return nil, false
		}
	}
	return row, true
}

// columns reads nine lines of digits and blanks in which cell c stands in column
// stride·c and a blank is an empty cell. Blanks at the end of a line may be
// missing.
func columns(text string, stride int) (g Grid, ok bool) {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	if len(lines) != 9 {
		return Grid{}, false
	}
	for r, line := range lines {
		for at, mark := range []rune(line) {
			if mark == ' ' {
				continue
			}
			digit, ok := digitOf(mark)
			if !ok || at >= 9*stride || at%stride != 0 {
				return Grid{}, false
			}
			g[9*r+at/stride] = digit
		}
	}
	return g, g.Clues() > 0
}

// cellOf reads a cell by itself; nothing is an empty one.
func cellOf(text string) (digit uint8, ok bool) {
	marks := []rune(text)
	switch {
	case len(marks) == 0:
		return 0, true
	case len(marks) > 1:
		return 0, false
	case strings.ContainsRune(emptyMarks, marks[0]):
		return 0, true
	}
	return digitOf(marks[0])
}

// isDecoration reports whether a character may stand between cells. U+2500 to
// U+257F are Unicode's line-drawing characters.
func isDecoration(mark rune) bool {
	return strings.ContainsRune(" \t\v\f\u00a0|+-,", mark) || mark >= 0x2500 && mark <= 0x257f
}
