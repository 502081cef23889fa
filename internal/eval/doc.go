// Package eval measures models on tasks whose answers are right or wrong
// beyond doubt.
//
// A task has puzzles, an exact scorer, and arms: ways to decode that are
// compared on the same puzzles. The package runs none of them itself. The
// caller gives a Run that answers one puzzle, for which Collect turns the
// engine's events into an Outcome; the task scores outcomes into Results, and a
// Report sums them up: rows with standard errors, paired comparisons against
// recorded outputs, comparisons against published shares. All of that is plain
// data, written as a table or as JSON by Document.
//
// Standard errors are clustered by puzzle: attempts at one puzzle with several
// seeds are averaged first, because they are not independent.
package eval
