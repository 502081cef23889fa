package gemma

import (
	"time"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// A clock divides the time of passes among their parts. A nil clock, which is what
// runs outside of measurements, does nothing and asks for no time.
type clock struct {
	profile *model.Profile
	now     model.Part
	since   time.Time
	head    kernel.HeadTimes
	// experts counts, by layer, those that the pass has read.
	experts []int
}

// SetProfile implements model.Profiler.
func (b *Backend) SetProfile(p *model.Profile) {
	if p == nil {
		b.forward.clock, b.headScratch.Times = nil, nil
		return
	}
	k := &clock{profile: p}
	b.forward.clock, b.headScratch.Times = k, &k.head
}

// start begins a pass, in Other.
func (k *clock) start(layers int) {
	if k == nil {
		return
	}
	k.now, k.since, k.experts = model.PartOther, time.Now(), make([]int, layers)
}

// enter says that what follows belongs to a part.
func (k *clock) enter(p model.Part) {
	if k == nil {
		return
	}
	at := time.Now()
	k.profile[k.now].Time += at.Sub(k.since)
	k.now, k.since = p, at
}

// chosen counts the experts of a layer that have rows: those between different
// offsets.
func (k *clock) chosen(layer int, offsets []int) {
	if k == nil {
		return
	}
	for i, end := range offsets[1:] {
		if end > offsets[i] {
			k.experts[layer]++
		}
	}
}

// leaveHead divides the time of the head, which was entered before, between its
// product and the statistics, as its workers have spent theirs.
func (k *clock) leaveHead() {
	if k == nil {
		return
	}
	took := time.Since(k.since)
	k.enter(model.PartOther)
	product, statistics := k.head.Product.Swap(0), k.head.Statistics.Swap(0)
	if statistics == 0 {
		return
	}
	part := time.Duration(float64(took) * float64(statistics) / float64(product+statistics))
	k.profile[model.PartHead].Time -= part
	k.profile[model.PartStatistics].Time += part
}

// clockStop ends a pass, of which heads rows got logits, and enters its work.
func (b *Backend) clockStop(p *pass, heads int, conditioned bool) {
	k := b.forward.clock
	if k == nil {
		return
	}
	k.enter(model.PartOther)
	w := &work{config: b.config, weights: b.weights, pass: p, heads: heads, conditioned: conditioned}
	for part, done := range w.count(k.experts) {
		k.profile[part].Operations += done.Operations
		k.profile[part].WeightBytes += done.WeightBytes
	}
}
