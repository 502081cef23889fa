package diffusion

import (
	"fmt"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/rng"
)

// Draws is where random ids come from. ID returns the id drawn at an address,
// and for the same address always the same one. The address says what is drawn:
//
//	canvas.PurposeInitial  the id with which position at.Position of canvas
//	                       at.Canvas starts; at.Step is 0
//	canvas.PurposeRenoise  the id that replaces it when step at.Step does not
//	                       accept it
//
// Candidates are not drawn here: the backend draws them, at Pass.Draw, because
// only it sees the distribution.
//
// Philox is the implementation. A replay of recorded draws is another.
type Draws interface {
	ID(at canvas.Address) int32
}

// Philox draws uniformly over the ids of Noise: multiply-high of the 64 random
// bits at the address (docs/randomness.md).
type Philox struct {
	noise canvas.Noise
}

// NewPhilox returns the draws over noise. It refuses a noise without ids, and
// one whose list does not have Count ids.
func NewPhilox(noise canvas.Noise) (Philox, error) {
	if noise.Count < 1 {
		return Philox{}, fmt.Errorf("diffusion: noise: %d ids to draw from", noise.Count)
	}
	if noise.IDs != nil && len(noise.IDs) != noise.Count {
		return Philox{}, fmt.Errorf("diffusion: noise: %d ids listed, %d counted", len(noise.IDs), noise.Count)
	}
	return Philox{noise}, nil
}

// ID implements Draws.
func (p Philox) ID(at canvas.Address) int32 {
	return p.noise.At(rng.Index(rng.Block(at.Key(), at.Counter()), p.noise.Count))
}

// An Answer names the answer that is drawn: together with a canvas index, a
// step and a position it addresses every draw.
type Answer struct {
	Seed uint64
	// Choice is the index of the choice, 0 … 65535.
	Choice int
	// Attempt is the answer attempt, 0 … 127. It shares eight bits of the
	// address with the redraw of a canvas.
	Attempt int
}

// Address is the address of the canvas with the given index; step, position and
// purpose are left at 0. A redraw moves every draw of this canvas and of no
// other. A number that does not fit its field is refused.
func (a Answer) Address(index int, redraw bool) (canvas.Address, error) {
	if a.Choice < 0 || a.Choice > 1<<16-1 {
		return canvas.Address{}, fmt.Errorf("diffusion: choice %d is not in 0 … %d", a.Choice, 1<<16-1)
	}
	if a.Attempt < 0 || a.Attempt > 1<<7-1 {
		return canvas.Address{}, fmt.Errorf("diffusion: answer attempt %d is not in 0 … %d", a.Attempt, 1<<7-1)
	}
	if index < 0 || int64(index) > 1<<32-1 {
		return canvas.Address{}, fmt.Errorf("diffusion: canvas index %d is not in 0 … %d", index, int64(1<<32-1))
	}
	attempt := uint8(2 * a.Attempt)
	if redraw {
		attempt++
	}
	return canvas.Address{Seed: a.Seed, Canvas: uint32(index), Attempt: attempt, Choice: uint16(a.Choice)}, nil
}
