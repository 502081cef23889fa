// Package sudoku knows the rules of 9 × 9 Sudoku: it reads grids, checks
// answers, counts solutions and makes puzzles. It is the exact scorer behind
// the embedded model and its evaluation, and knows nothing about models.
//
// The canonical text of a grid is nine lines of nine characters joined by
// newlines, "." for an empty cell and no newline at the end. Rows, columns and
// boxes count from 1 in everything that a person reads; boxes count from left to
// right, then down.
package sudoku
