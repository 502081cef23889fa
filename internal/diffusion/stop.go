package diffusion

import "slices"

// A Stop says why a canvas needs no further step.
type Stop uint8

const (
	// NotStopped: ask for another Step.
	NotStopped Stop = iota
	// Converged: stable and confident.
	Converged
	// CapReached: Settings.Cap steps were made.
	CapReached
	// AllPinned: every position was given; no step was made.
	AllPinned
)

func (s Stop) String() string {
	switch s {
	case Converged:
		return "converged"
	case CapReached:
		return "cap"
	case AllPinned:
		return "pinned"
	}
	return "none"
}

// A convergence is the stable-and-confident rule (docs/model.md §5.4).
//
//   - stable: the argmax canvas equals every one of the last `stability` argmax
//     canvases at every position; with 0 always. Before that many steps were
//     made it is not stable. A pinned position has its given token in all of
//     them and so has no say.
//   - confident: the mean entropy is below the threshold, strictly.
//
// Equal to all of the last n is the same as: n steps in a row changed nothing.
// So one earlier canvas and a count are all the memory it needs.
type convergence struct {
	stability  int
	confidence float32
	off        bool

	previous []int32 // argmax canvas of the step before
	seen     bool    // there was a step before
	repeats  int     // steps in a row that changed nothing
}

// reset forgets everything; the next canvas has length positions.
func (c *convergence) reset(length int) {
	c.previous = resize(c.previous, length)
	c.seen = false
	c.repeats = 0
}

// observe takes the argmax canvas and the mean entropy of a step. With the rule
// off neither is ever true.
func (c *convergence) observe(best []int32, mean float32) (stable, confident bool) {
	if c.off {
		return false, false
	}
	if c.seen && slices.Equal(best, c.previous) {
		c.repeats++
	} else {
		c.repeats = 0
	}
	copy(c.previous, best)
	c.seen = true
	return c.repeats >= c.stability, mean < c.confidence
}

// meanEntropy is the mean over the free positions in nats; free is their
// number, > 0. The sum runs in float64 in ascending position and is rounded to
// float32 once, after the division: torch's own order of summing in float32
// depends on the machine, and this lies within a few units in the last place of
// all of them. Where every position has the same entropy it is that entropy.
func meanEntropy(entropy []float32, pinned []bool, free int) float32 {
	var sum float64
	for i, h := range entropy {
		if !pinned[i] {
			sum += float64(h)
		}
	}
	return float32(sum / float64(free))
}
