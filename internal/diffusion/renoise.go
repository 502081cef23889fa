package diffusion

import "github.com/frescolm/fresco/internal/canvas"

// renoise makes the next canvas in place: an accepted position takes the token
// that was sampled for it, even when it had been accepted before; a pinned one
// keeps its token; every other one takes a fresh random id, drawn at the step's
// address (docs/model.md §5.2, items 7 and 8).
//
// A draw is a function of its address, so the ids of accepted positions need
// not be drawn for the others to be right.
func renoise(ids []int32, stats []canvas.Stats, accepted, pinned []bool, draws Draws, at canvas.Address) {
	at.Purpose = canvas.PurposeRenoise
	for i := range ids {
		switch {
		case pinned[i]:
		case accepted[i]:
			ids[i] = stats[i].Sample
		default:
			at.Position = uint32(i)
			ids[i] = draws.ID(at)
		}
	}
}
