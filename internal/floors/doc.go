// Package floors holds the order of the house: which package may import which.
// It has no code of its own; its tests read the imports of the whole module.
//
// table_test.go is the plan, from the top floor to the ground: one line a
// package, with what it may import. imports_test.go compares it with what is
// there, surface_test.go looks at what the public packages export.
package floors
