package diffusion

import (
	"errors"
	"fmt"
	"math"

	"github.com/frescolm/fresco/internal/canvas"
)

// A Sampler decides the denoising of an answer's canvases, one after another.
// See the package's contract.
type Sampler struct {
	settings Settings
	answer   Answer
	draws    Draws

	at      canvas.Address // of the canvas in hand; Step is the next step's
	step    int            // steps observed
	asked   bool           // Step was called since the last Observe
	stopped Stop
	free    int // positions that are not pinned

	ids    []int32 // the canvas as the next step sees it
	best   []int32 // argmax canvas of the last step
	pinned []bool
	rule   convergence

	// Of the last step, one element a position.
	entropy   []float32 // 0 where pinned
	order     []int32   // positions in ascending entropy
	accepted  []bool
	renoised  []bool
	rewritten []bool
}

// A Canvas says which canvas of an answer is begun.
type Canvas struct {
	// Index counts the canvases of an answer from 0.
	Index int
	// Length is the number of positions, at least 1.
	Length int
	// Cells says what is known about the first positions; those beyond are
	// free. At most Length.
	Cells []canvas.Cell
	// Redraw moves every draw of this canvas.
	Redraw bool
}

// A Pass is what to ask of the backend: one decoder pass over the canvas.
type Pass struct {
	// Index counts the steps of a canvas from 0.
	Index int
	// IDs is the canvas before the step.
	IDs []int32
	// Temperature divides the logits.
	Temperature float32
	// Draw is the address of the candidate draws, with Position 0.
	Draw canvas.Address
}

// A Decision is what a step came to. Slices have one element a position and
// hold until the next Observe or Begin.
type Decision struct {
	// Index counts the steps of a canvas from 0; Temperature was that of the
	// step.
	Index       int
	Temperature float32
	// Accepted marks the free positions that took their sampled token, and
	// AcceptedCount counts them; Renoised marks the other free positions.
	Accepted, Renoised []bool
	AcceptedCount      int
	// Next is the canvas as the next step will see it.
	Next []int32
	// Best is the argmax canvas, with the given tokens where pinned: what the
	// canvas comes to if this step is the last.
	Best []int32
	// Rewritten marks the positions where Best differs from that of the step
	// before; none in the first step.
	Rewritten []bool
	// MeanEntropy is the mean over the free positions in nats.
	MeanEntropy float32
	// Stable and Confident are the two halves of the early stop, both false
	// while it is off.
	Stable, Confident bool
	// Stop says whether this was the last step of the canvas, and why.
	Stop Stop
}

// New returns a sampler for one answer. It refuses invalid settings with a
// *SettingsError, and an answer whose numbers do not fit an address.
func New(settings Settings, answer Answer, draws Draws) (*Sampler, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	if _, err := answer.Address(0, false); err != nil {
		return nil, err
	}
	if draws == nil {
		return nil, errors.New("diffusion: no source of draws")
	}
	return &Sampler{
		settings: settings,
		answer:   answer,
		draws:    draws,
		rule: convergence{
			stability:  settings.Stability,
			confidence: settings.Confidence,
			off:        !settings.earlyStop(),
		},
	}, nil
}

// Begin starts a canvas: given tokens where pinned, random ids elsewhere. It
// returns the starting ids. When every position is pinned the canvas is done at
// once: Stopped says AllPinned.
func (s *Sampler) Begin(c Canvas) ([]int32, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	at, err := s.answer.Address(c.Index, c.Redraw)
	if err != nil {
		return nil, err
	}
	s.resize(c.Length)
	s.at, s.step, s.asked, s.stopped = at, 0, false, NotStopped

	s.free = c.Length
	at.Purpose = canvas.PurposeInitial
	for i := range s.ids {
		s.pinned[i] = i < len(c.Cells) && c.Cells[i].Kind == canvas.Pinned
		if s.pinned[i] {
			s.ids[i] = c.Cells[i].ID
			s.free--
			continue
		}
		at.Position = uint32(i)
		s.ids[i] = s.draws.ID(at)
	}
	copy(s.best, s.ids)
	s.rule.reset(c.Length)
	if s.free == 0 {
		s.stopped = AllPinned
	}
	return s.ids, nil
}

func (c Canvas) validate() error {
	if c.Length < 1 || int64(c.Length) > 1<<32-1 {
		return fmt.Errorf("diffusion: canvas %d: length %d is not in 1 … %d", c.Index, c.Length, int64(1<<32-1))
	}
	if len(c.Cells) > c.Length {
		return fmt.Errorf("diffusion: canvas %d: %d cells for %d positions", c.Index, len(c.Cells), c.Length)
	}
	for i, cell := range c.Cells {
		switch {
		case cell.Kind == canvas.Pinned && cell.ID < 0:
			return fmt.Errorf("diffusion: canvas %d: position %d: pinned to id %d", c.Index, i, cell.ID)
		case cell.Kind != canvas.Pinned && cell.Kind != canvas.Free:
			return fmt.Errorf("diffusion: canvas %d: position %d: unknown kind of cell %d", c.Index, i, cell.Kind)
		}
	}
	return nil
}

// Stopped says whether the canvas in hand needs no further step, and why.
func (s *Sampler) Stopped() Stop { return s.stopped }

// Steps is the number of steps observed for the canvas in hand.
func (s *Sampler) Steps() int { return s.step }

// Best is the argmax canvas of the last step, the canvas that is emitted; before
// the first step it is the starting canvas.
func (s *Sampler) Best() []int32 { return s.best }

// Step returns the pass to run next. It changes nothing that a second call
// would see. It is an error before Begin and after the canvas has stopped.
func (s *Sampler) Step() (Pass, error) {
	if err := s.running(); err != nil {
		return Pass{}, err
	}
	s.asked = true
	at := s.at
	at.Step = uint16(s.step)
	at.Purpose = canvas.PurposeCandidate
	return Pass{Index: s.step, IDs: s.ids, Temperature: s.temperature(), Draw: at}, nil
}

func (s *Sampler) running() error {
	if len(s.ids) == 0 {
		return errors.New("diffusion: no canvas was begun")
	}
	if s.stopped != NotStopped {
		return fmt.Errorf("diffusion: canvas %d has stopped (%v) after %d steps", s.at.Canvas, s.stopped, s.step)
	}
	return nil
}

// temperature is that of the next step; the official count runs downwards.
func (s *Sampler) temperature() float32 { return s.settings.Temperature(s.settings.Steps - s.step) }

// Observe takes the statistics of the pass that Step asked for, one for each
// position, and decides. It refuses a wrong number of them, and NaN or infinity,
// with an error that names canvas, step and position, and then changes nothing.
func (s *Sampler) Observe(stats []canvas.Stats) (Decision, error) {
	if err := s.check(stats); err != nil {
		return Decision{}, err
	}
	d := Decision{Index: s.step, Temperature: s.temperature()}
	at := s.at
	at.Step = uint16(s.step)

	for i := range stats {
		s.entropy[i] = stats[i].Entropy
		if s.pinned[i] {
			s.entropy[i] = 0
		}
	}
	acceptEntropy(s.accepted, s.entropy, s.order, s.settings.EntropyBound)
	renoise(s.ids, stats, s.accepted, s.pinned, s.draws, at)
	d.AcceptedCount = s.mark(stats)
	d.MeanEntropy = meanEntropy(s.entropy, s.pinned, s.free)
	d.Stable, d.Confident = s.rule.observe(s.best, d.MeanEntropy)

	s.step++
	s.asked = false
	switch {
	case d.Stable && d.Confident:
		s.stopped = Converged
	case s.step >= s.settings.Cap():
		s.stopped = CapReached
	}
	d.Stop = s.stopped
	d.Accepted, d.Renoised, d.Rewritten = s.accepted, s.renoised, s.rewritten
	d.Next, d.Best = s.ids, s.best
	return d, nil
}

func (s *Sampler) check(stats []canvas.Stats) error {
	if err := s.running(); err != nil {
		return err
	}
	if !s.asked {
		return fmt.Errorf("diffusion: canvas %d: statistics for step %d, which was not asked for", s.at.Canvas, s.step)
	}
	if len(stats) != len(s.ids) {
		return fmt.Errorf("diffusion: canvas %d, step %d: statistics for %d positions of %d", s.at.Canvas, s.step, len(stats), len(s.ids))
	}
	for i := range stats {
		h := float64(stats[i].Entropy)
		if stats[i].NonFinite || math.IsNaN(h) || math.IsInf(h, 0) {
			return fmt.Errorf("diffusion: canvas %d, step %d, position %d: NaN or infinity (entropy %v)", s.at.Canvas, s.step, i, h)
		}
	}
	return nil
}

// mark takes over the argmax canvas and sets the masks of the step for free
// positions. It returns the number of accepted ones.
func (s *Sampler) mark(stats []canvas.Stats) int {
	count := 0
	for i := range stats {
		if s.pinned[i] {
			s.accepted[i], s.renoised[i], s.rewritten[i] = false, false, false
			continue
		}
		s.renoised[i] = !s.accepted[i]
		s.rewritten[i] = s.step > 0 && s.best[i] != stats[i].Argmax
		s.best[i] = stats[i].Argmax
		if s.accepted[i] {
			count++
		}
	}
	return count
}

func (s *Sampler) resize(length int) {
	s.ids = resize(s.ids, length)
	s.best = resize(s.best, length)
	s.pinned = resize(s.pinned, length)
	s.entropy = resize(s.entropy, length)
	s.order = resize(s.order, length)
	s.accepted = resize(s.accepted, length)
	s.renoised = resize(s.renoised, length)
	s.rewritten = resize(s.rewritten, length)
}

// resize returns a slice of n elements, in the old memory when it is large
// enough. What it holds is left over and must be overwritten.
func resize[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}
