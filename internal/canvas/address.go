package canvas

// A Purpose says what a random draw decides. Draws with different purposes
// never share a counter, so adding one purpose never moves the draws of
// another.
type Purpose uint8

const (
	// PurposeInitial draws the ids of a fresh canvas, one per position.
	PurposeInitial Purpose = iota
	// PurposeCandidate draws the candidate token of a position in a denoising
	// step.
	PurposeCandidate
	// PurposeRenoise draws the id that replaces a position which a denoising
	// step did not accept.
	PurposeRenoise
	// PurposeToken draws the next token of autoregressive decoding. Its
	// Position is the absolute position of the token drawn; Canvas, Step and
	// the lowest bit of Attempt are 0.
	PurposeToken
)

// SchemeVersion names this way of addressing random draws. It changes whenever
// the same request would draw other numbers. docs/randomness.md is its page.
const SchemeVersion = 1

// An Address says where a random draw lives. Randomness is a function of the
// address: there is no stream, so nothing that happens elsewhere (other
// requests, other threads, a redraw) can move a draw.
//
// The fields are as wide as the counter words that they go into; a number that
// does not fit must be refused by whoever builds the address.
type Address struct {
	// Seed is the request's seed and the generator's key.
	Seed uint64
	// Position is the index in the canvas, or the absolute token position for
	// PurposeToken.
	Position uint32
	// Canvas counts the canvases of an answer from 0.
	Canvas uint32
	// Step counts the denoising steps of a canvas upwards from 0.
	Step uint16
	// Attempt is 2 × answer attempt + canvas redraw: a guard sets the lowest
	// bit for the one canvas that it redraws, a failed check raises the answer
	// attempt.
	Attempt uint8
	// Purpose says what the draw decides.
	Purpose Purpose
	// Choice is the index of the choice when several are asked for; choice 0
	// equals the answer to a request for one.
	Choice uint16
	// Sub is 0 unless the page on the scheme names a use.
	Sub uint16
}

// Counter packs the address, without its seed, into the four counter words of
// Philox4x32-10: position, canvas, step:16|attempt:8|purpose:8,
// choice:16|sub:16 (most significant field first).
func (a Address) Counter() [4]uint32 {
	return [4]uint32{
		a.Position,
		a.Canvas,
		uint32(a.Step)<<16 | uint32(a.Attempt)<<8 | uint32(a.Purpose),
		uint32(a.Choice)<<16 | uint32(a.Sub),
	}
}

// Key splits the seed into the two key words of Philox4x32-10, low word first.
func (a Address) Key() [2]uint32 {
	return [2]uint32{uint32(a.Seed), uint32(a.Seed >> 32)}
}
