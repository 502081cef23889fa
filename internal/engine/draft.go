package engine

import (
	"slices"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/diffusion"
)

// drafts turns the sampler's decisions into Draft events, in memory of its own
// that is used again for every step.
type drafts struct{ draft Draft }

func (d *drafts) begin(c *refined, cells []canvas.Cell, steps int) {
	n := len(c.ids)
	d.draft.Canvas, d.draft.Redraw, d.draft.Steps = c.index, c.redraw, steps
	d.draft.Entropy = slices.Grow(d.draft.Entropy[:0], n)[:n]
	d.draft.Pinned = slices.Grow(d.draft.Pinned[:0], n)[:n]
	for i := range d.draft.Pinned {
		d.draft.Pinned[i] = i < len(cells) && cells[i].Kind == canvas.Pinned
	}
}

func (d *drafts) of(decision diffusion.Decision, stats []canvas.Stats) *Draft {
	for i := range stats {
		d.draft.Entropy[i] = stats[i].Entropy
		if d.draft.Pinned[i] {
			d.draft.Entropy[i] = 0
		}
	}
	d.draft.Step = decision.Index + 1
	d.draft.Temperature, d.draft.MeanEntropy = decision.Temperature, decision.MeanEntropy
	d.draft.Best, d.draft.Current = decision.Best, decision.Next
	d.draft.Accepted, d.draft.Rewritten = decision.Accepted, decision.Rewritten
	d.draft.AcceptedCount = decision.AcceptedCount
	return &d.draft
}
