package engine

import (
	"fmt"
	"slices"

	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/model"
)

// What guards see, in plain words.
const (
	sawNoText   = "no visible text before the end token"
	sawNoTokens = "no token before the end token"
	sawNothing  = "no visible text"
	sawPadding  = "only padding"
	sawNoAnswer = "the answer ended without a text"
)

// warnStopAtOnce is no guard's business: the answer is as the request wants it.
const warnStopAtOnce = "a stop text matches where the answer begins: the answer is empty"

// nonFinite says where NaN or infinity appeared in a step, "" when nowhere.
// start is the absolute position of the step's first row.
func (r *run) nonFinite(result model.Result, start int) string {
	if n := result.NonFinite; n != nil {
		return n.Error()
	}
	for i := range result.Stats {
		if result.Stats[i].NonFinite {
			return (&model.NonFinite{Layer: model.InLogits, Position: start + i}).Error()
		}
	}
	return ""
}

// judge says what is wrong with a canvas that was denoised, "" when nothing or
// when the guards are off. ids is the canvas before anything was cut.
func (r *run) judge(c *refined) string {
	g := r.request.Guards
	if !g.On {
		return ""
	}
	if c.broken != "" {
		return c.broken
	}
	if r.padding(c.ids) {
		return sawPadding
	}
	if c.index == 0 {
		if saw := r.invisible(c); saw != "" {
			return saw
		}
	}
	lowered := r.request.CapLowered || r.request.Sampler.Cap() < r.request.Sampler.Steps
	if c.stop == diffusion.CapReached && g.Entropy > 0 && c.entropy > g.Entropy && !lowered {
		return fmt.Sprintf("step cap of %d reached with a mean entropy of %.2f nats, above %g", c.steps, c.entropy, g.Entropy)
	}
	return ""
}

func (r *run) padding(ids []int32) bool {
	return r.request.Pad >= 0 && !slices.ContainsFunc(ids, func(id int32) bool { return id != r.request.Pad })
}

// invisible says that a canvas has no text before its end.
func (r *run) invisible(c *refined) string {
	kept, ended := r.beforeEnd(c.ids)
	switch {
	case r.tokenizer == nil && len(kept) == 0:
		return sawNoTokens
	case r.tokenizer == nil || r.tokenizer.Decode(kept, true) != "":
		return ""
	case ended:
		return sawNoText
	}
	return sawNothing
}

// keeps reports whether a canvas that a guard has rejected for good still has
// tokens that belong into the answer.
func (r *run) keeps(c *refined) bool { return c.broken == "" && !r.padding(c.ids) }
