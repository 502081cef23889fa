package sudoku

import "math/bits"

// allDigits is the set of candidates 1 … 9; bit d-1 stands for digit d.
const allDigits = 1<<9 - 1

// A board is a grid with the sets of digits that its rows, columns and boxes
// already hold.
type board struct {
	grid              Grid
	rows, cols, boxes [9]uint16
}

// newBoard places the clues; ok is false when two of them contradict.
func newBoard(g Grid) (b board, ok bool) {
	for cell, digit := range g {
		if digit == 0 {
			continue
		}
		if b.candidates(cell)&(1<<(digit-1)) == 0 {
			return b, false
		}
		b.place(cell, digit)
	}
	return b, true
}

// candidates returns the digits that the rules allow in an empty cell.
func (b *board) candidates(cell int) uint16 {
	return allDigits &^ (b.rows[cell/9] | b.cols[cell%9] | b.boxes[boxOf(cell)])
}

func (b *board) place(cell int, digit uint8) {
	b.grid[cell] = digit
	b.flip(cell, digit)
}

func (b *board) remove(cell int) {
	b.flip(cell, b.grid[cell])
	b.grid[cell] = 0
}

func (b *board) flip(cell int, digit uint8) {
	bit := uint16(1) << (digit - 1)
	b.rows[cell/9] ^= bit
	b.cols[cell%9] ^= bit
	b.boxes[boxOf(cell)] ^= bit
}

// tightest returns the empty cell with the fewest candidates and their set;
// cell is -1 when the grid is full.
func (b *board) tightest() (cell int, candidates uint16) {
	cell, least := -1, 10
	for i, digit := range b.grid {
		if digit != 0 {
			continue
		}
		set := b.candidates(i)
		if n := bits.OnesCount16(set); n < least {
			cell, candidates, least = i, set, n
			if n <= 1 {
				break
			}
		}
	}
	return cell, candidates
}

// search visits the solutions depth first until visit returns false, and
// reports whether it went through all of them. order lists the candidates of a
// cell in the order in which to try them.
func (b *board) search(order func(set uint16) []uint8, visit func(Grid) bool) bool {
	cell, set := b.tightest()
	if cell < 0 {
		return visit(b.grid)
	}
	for _, digit := range order(set) {
		b.place(cell, digit)
		more := b.search(order, visit)
		b.remove(cell)
		if !more {
			return false
		}
	}
	return true
}

// ascending lists the digits of a set from low to high.
func ascending(set uint16) []uint8 { return digitsOf[set] }

// digitsOf lists the digits of every set.
var digitsOf = func() (table [allDigits + 1][]uint8) {
	for set := range table {
		for digit := uint8(1); digit <= 9; digit++ {
			if set>>(digit-1)&1 != 0 {
				table[set] = append(table[set], digit)
			}
		}
	}
	return table
}()

// Solutions returns the first solutions of a puzzle, at most limit of them, in
// the order of a depth-first search. A puzzle with contradicting clues has none.
func Solutions(puzzle Grid, limit int) []Grid {
	b, ok := newBoard(puzzle)
	if !ok || limit <= 0 {
		return nil
	}
	var found []Grid
	b.search(ascending, func(g Grid) bool {
		found = append(found, g)
		return len(found) < limit
	})
	return found
}

// Unique reports whether a puzzle has exactly one solution.
func Unique(puzzle Grid) bool { return len(Solutions(puzzle, 2)) == 1 }
