// Package pool runs the items of one operation on a fixed set of workers.
//
// A Pool has its goroutines from the start: a Run starts none, allocates
// nothing, and hands items out by an atomic counter, so that a slow item delays
// nobody else. The goroutine that calls Run is worker 0 and takes items like
// the others. Between runs the workers are parked.
//
// Which worker runs which item is left to chance. An operation is deterministic
// when each item writes its own part of the output and what it computes depends
// on the item alone; the worker's number may only choose scratch space.
package pool
