package diffusion

import "slices"

// An Ending says how a finished canvas ends an answer (docs/model.md §5.6,
// item e).
type Ending struct {
	// IDs are the end tokens; none means that only MaxLength ends an answer.
	IDs []int32
	// Pad replaces what follows an end token when HasPad is set; otherwise
	// those tokens stay.
	Pad    int32
	HasPad bool
	// MaxLength, when not 0, finishes an answer whose sequence has reached this
	// many tokens, the prompt included.
	MaxLength int
}

// Finalize applies the rule to ids, the finished canvas, in place:
//
//   - when the answer had finished in an earlier canvas, the whole canvas
//     becomes padding;
//   - else everything after the first end token becomes padding; the end token
//     itself stays.
//
// total is the number of tokens of the sequence with this canvas, and counts for
// MaxLength alone. It returns whether the answer is finished, which it stays
// once it was. Nothing is cut off: a canvas keeps its length.
func (e Ending) Finalize(ids []int32, total int, finishedBefore bool) (finished bool) {
	end := slices.IndexFunc(ids, func(id int32) bool { return slices.Contains(e.IDs, id) })
	if e.HasPad {
		switch {
		case finishedBefore:
			fill(ids, e.Pad)
		case end >= 0:
			fill(ids[end+1:], e.Pad)
		}
	}
	return finishedBefore || end >= 0 || e.MaxLength != 0 && total >= e.MaxLength
}

func fill(ids []int32, id int32) {
	for i := range ids {
		ids[i] = id
	}
}
