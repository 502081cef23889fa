package sudoku

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// MinClues is the smallest number of clues with which a puzzle can have one
// solution (McGuire, Tugemann, Civario 2012, arXiv:1201.0749).
const MinClues = 17

// attempts bounds how many full grids Generate tries. Removing clues at random
// gets to 30 clues nearly always and below 22 hardly ever.
const attempts = 200

// Generate makes the puzzle with the given index of the series that seed names:
// lo to hi clues and exactly one solution, which is returned beside it. A puzzle
// is a function of its arguments alone. The number of clues wanted is uniform
// over lo … hi.
//
// Clues are removed at random as long as the solution stays unique, so most
// puzzles give way to singles; they are easier than published hard puzzles of
// the same clue count.
func Generate(seed, index uint64, lo, hi int) (puzzle, solution Grid, err error) {
	if lo < MinClues || hi > Cells || lo > hi {
		return Grid{}, Grid{}, fmt.Errorf("sudoku: no puzzles of %d to %d clues: must be within %d to %d", lo, hi, MinClues, Cells)
	}
	d := draws{rand.NewPCG(seed, index)}
	want := lo + d.below(hi-lo+1)
	for range attempts {
		solution = d.fullGrid()
		puzzle = d.thin(solution, want)
		if puzzle.Clues() <= hi {
			return puzzle, solution, nil
		}
	}
	return Grid{}, Grid{}, fmt.Errorf("sudoku: no puzzle of at most %d clues in %d attempts (seed %d, index %d)", hi, attempts, seed, index)
}

// draws makes random choices from the raw numbers of PCG-DXSM alone, a published
// algorithm, so that no change to how Go shuffles can change a series of
// puzzles.
type draws struct{ source *rand.PCG }

// below returns a number 0 … n-1 by multiply-high.
func (d draws) below(n int) int {
	high, _ := bits.Mul64(d.source.Uint64(), uint64(n))
	return int(high)
}

// fullGrid draws a solved grid: a depth-first search over the empty grid that
// tries the candidates of each cell in random order.
func (d draws) fullGrid() (full Grid) {
	var b board
	b.search(
		func(set uint16) []uint8 {
			digits := append([]uint8(nil), digitsOf[set]...)
			shuffle(d, digits)
			return digits
		},
		func(g Grid) bool { full = g; return false },
	)
	return full
}

// thin removes clues in random order, each only if the solution stays the only
// one, until want are left or every clue has been tried.
func (d draws) thin(solution Grid, want int) Grid {
	order := make([]int, Cells)
	for i := range order {
		order[i] = i
	}
	shuffle(d, order)
	puzzle, clues := solution, Cells
	for _, cell := range order {
		if clues == want {
			break
		}
		puzzle[cell] = 0
		if Unique(puzzle) {
			clues--
		} else {
			puzzle[cell] = solution[cell]
		}
	}
	return puzzle
}

// shuffle puts s into a random order (Fisher and Yates).
func shuffle[T any](d draws, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := d.below(i + 1)
		s[i], s[j] = s[j], s[i]
	}
}
