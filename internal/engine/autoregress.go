package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
)

// autoregress draws one token after another from the causal encoder's logits:
// the first from the last row of the prompt, each other one from the pass that
// commits the token before it.
//
// The address of a token's draw holds its absolute position and nothing that
// another way to decode could change, so there is no second draw for a guard to
// ask for.
func (r *run) autoregress(ctx context.Context) (FinishReason, error) {
	at, err := r.address().Address(0, false)
	if err != nil {
		return "", fmt.Errorf("engine: %w", err)
	}
	at.Purpose = canvas.PurposeToken
	rows := []model.Row{{Index: model.LastCommitted, Sampling: canvas.Sampling{
		Temperature: r.request.Temperature, Filter: r.request.Filter,
	}}}
	var last [1]int32
	var pending []int32 // the token drawn before, which is not committed yet
	for {
		position := r.sequence.Len() + len(pending)
		at.Position = uint32(position)
		rows[0].Sampling.Draw = at
		r.encode(pending, rows)
		result, err := r.step(ctx, model.Item{Encode: &r.encoding}, &r.finished.Timing.Decode)
		if err == nil && len(result.Stats) != 1 {
			err = fmt.Errorf("%d statistics for one row", len(result.Stats))
		}
		if err != nil {
			return "", inPart(fmt.Sprintf("token %d", position), err)
		}
		r.finished.Usage.Forwards += len(pending)
		if saw := r.nonFinite(result, position-1); saw != "" {
			if !r.request.Guards.On {
				return "", fmt.Errorf("engine: token %d: %s", position, saw)
			}
			r.finished.Guard = saw
			return FinishGuard, nil
		}
		last[0] = result.Stats[0].Sample
		r.finished.Usage.ComputedTokens++
		if slices.Contains(r.request.End, last[0]) {
			return FinishStop, nil
		}
		r.answer.push(last[0])
		over := r.answer.full() || r.answer.decided() || position+1 == r.config.MaxPositions
		if over {
			r.answer.end()
		}
		if err := r.emitCommitted(); err != nil {
			return "", err
		}
		switch {
		case r.answer.decided():
			return FinishStop, nil
		case over:
			return FinishLength, nil
		}
		pending, rows[0].Index = last[:], 0
	}
}
