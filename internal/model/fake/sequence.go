package fake

import (
	"fmt"
	"slices"

	"github.com/frescolm/fresco/internal/model"
)

// sequence is the committed tokens; their hash stands for a KV cache.
type sequence struct {
	backend *Backend
	ids     []int32
	// stored is the lowest position that sliding layers still hold.
	stored int
	// answerable is true while the last committed row can be asked.
	answerable bool
	released   bool
}

func (s *sequence) Len() int { return len(s.ids) }

func (s *sequence) NewCanvas(length int) (model.Canvas, error) {
	if s.released {
		return nil, fmt.Errorf("fake: new canvas: the sequence was released")
	}
	c := &state{backend: s.backend, sequence: s}
	if err := c.Reset(length); err != nil {
		return nil, err
	}
	s.backend.canvases++
	return c, nil
}

func (s *sequence) Fork() (model.Sequence, error) {
	if s.released {
		return nil, fmt.Errorf("fake: fork: the sequence was released")
	}
	s.backend.sequences++
	fork := *s
	fork.ids = slices.Clone(s.ids)
	return &fork, nil
}

// Truncate can go back to n as long as the window before n is stored.
func (s *sequence) Truncate(n int) error {
	switch {
	case s.released:
		return fmt.Errorf("fake: truncate: the sequence was released")
	case n < 0 || n > len(s.ids):
		return fmt.Errorf("fake: truncate to position %d: the sequence has %d tokens", n, len(s.ids))
	case max(0, n-(s.backend.config.Window-1)) < s.stored:
		return fmt.Errorf("fake: truncate to position %d: sliding layers need position %d and store from %d on",
			n, max(0, n-(s.backend.config.Window-1)), s.stored)
	}
	if n < len(s.ids) {
		s.answerable = false
	}
	s.ids = s.ids[:n]
	return nil
}

func (s *sequence) Release() {
	if !s.released {
		s.released = true
		s.backend.sequences--
	}
}

// extend commits ids and forgets what the rollback limit does not need.
func (s *sequence) extend(ids []int32) {
	s.ids = append(s.ids, ids...)
	s.answerable = true
	if rollback := s.backend.rollback; rollback > 0 {
		s.stored = max(s.stored, len(s.ids)-(s.backend.config.Window-1)-rollback)
	}
}

// state is a canvas: the processed logits of its last step.
type state struct {
	backend  *Backend
	sequence *sequence
	length   int
	steps    int
	logits   []float32
	kept     bool
	released bool
}

func (c *state) Len() int { return c.length }

func (c *state) Reset(length int) error {
	if c.released {
		return fmt.Errorf("fake: reset: the canvas was released")
	}
	if length < 1 || length > c.backend.config.CanvasLength {
		return fmt.Errorf("fake: canvas length %d is not in 1 … %d", length, c.backend.config.CanvasLength)
	}
	c.length, c.steps, c.kept = length, 0, false
	c.logits = slices.Grow(c.logits[:0], length*c.backend.config.VocabSize)[:length*c.backend.config.VocabSize]
	return nil
}

func (c *state) Release() {
	if !c.released {
		c.released = true
		c.backend.canvases--
	}
}

func (c *state) Logits(dst []float32) error {
	switch {
	case c.released:
		return fmt.Errorf("fake: logits: the canvas was released")
	case len(dst) != len(c.logits):
		return fmt.Errorf("fake: logits: %d values for a canvas of %d", len(dst), len(c.logits))
	case !c.kept:
		return fmt.Errorf("fake: logits: the canvas has none before its first step")
	}
	copy(dst, c.logits)
	return nil
}

func (c *state) SetLogits(src []float32) error {
	switch {
	case c.released:
		return fmt.Errorf("fake: set logits: the canvas was released")
	case len(src) != len(c.logits):
		return fmt.Errorf("fake: set logits: %d values for a canvas of %d", len(src), len(c.logits))
	}
	copy(c.logits, src)
	c.kept = true
	return nil
}
