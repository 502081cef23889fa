package model

import "time"

// A Part is a part of a step whose time is told separately.
type Part uint8

// The parts of a step.
const (
	// PartProjections are the linear layers of attention: queries, keys, values,
	// output.
	PartProjections Part = iota
	// PartAttention is scores, softmax and weighted values.
	PartAttention
	// PartDense is the dense branch with its norm and activation.
	PartDense
	// PartExperts are router and expert branch, with gathering and mixing.
	PartExperts
	// PartHead is the product with the table that gives the logits.
	PartHead
	// PartSelfConditioning is the soft embedding and the network behind it.
	PartSelfConditioning
	// PartStatistics is what is done with logits: soft-cap, keeping, sums, draws.
	PartStatistics
	// PartOther is the rest: embedding, the norms around the parts, rotary embedding,
	// residual sums, the cache.
	PartOther

	parts
)

var partNames = [parts]string{
	"attention projections", "attention", "dense MLP", "experts", "head", "self-conditioning", "statistics", "other",
}

func (p Part) String() string { return partNames[p] }

// Parts lists the parts in the order in which they should be shown.
func Parts() []Part {
	list := make([]Part, parts)
	for i := range list {
		list[i] = Part(i)
	}
	return list
}

// A Profile is the time and the work of steps, by part.
type Profile [parts]PartProfile

// A PartProfile is the time and the work of one part.
type PartProfile struct {
	// Time is wall time.
	Time time.Duration
	// Operations counts the float32 multiplications and additions of products,
	// from the dimensions of the architecture; elementwise work counts for
	// nothing.
	Operations float64
	// WeightBytes is the memory of the weights that were read, each counted once
	// for each pass: of experts only those that were chosen.
	WeightBytes int64
}

// Total adds the parts up.
func (p *Profile) Total() PartProfile {
	var sum PartProfile
	for _, part := range p {
		sum.Time += part.Time
		sum.Operations += part.Operations
		sum.WeightBytes += part.WeightBytes
	}
	return sum
}

// A Profiler is a Backend that can say where the time of its steps goes.
type Profiler interface {
	Backend
	// SetProfile makes all later steps add to p; nil ends it.
	SetProfile(p *Profile)
}
