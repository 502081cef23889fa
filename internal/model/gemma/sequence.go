package gemma

import (
	"errors"
	"fmt"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// sequence is a model.Sequence: the committed KV cache of every layer, and the
// last committed row's final hidden state.
type sequence struct {
	backend  *Backend
	length   int
	layers   []layerCache
	released bool
	// last is the final-norm output of the last committed row; answerable says
	// whether it is there.
	last       []float32
	answerable bool
}

func (b *Backend) NewSequence() model.Sequence {
	s := &sequence{backend: b, last: make([]float32, b.config.hidden)}
	for _, l := range b.config.layers {
		s.layers = append(s.layers, layerCache{store: b.pages, width: l.kvHeads * l.headDim})
	}
	return s
}

func (s *sequence) Len() int { return s.length }

var (
	errReleased       = errors.New("the sequence was released")
	errCanvasReleased = errors.New("the canvas was released")
	errForeign        = errors.New("a sequence or canvas of another backend")
)

func (s *sequence) Truncate(n int) error {
	switch {
	case s.released:
		return fmt.Errorf("gemma: %w", errReleased)
	case n < 0 || n > s.length:
		return fmt.Errorf("gemma: cannot truncate a sequence of %d tokens to %d", s.length, n)
	case n == s.length:
		return nil
	case n > 0 && n < s.earliest():
		return fmt.Errorf("gemma: cannot truncate to position %d: sliding layers are stored for going back to %d", n, s.earliest())
	}
	s.cut(n)
	return nil
}

// cut undoes what was written from position n on.
func (s *sequence) cut(n int) {
	for i := range s.layers {
		s.layers[i].truncate(n)
	}
	s.length, s.answerable = n, false
}

func (s *sequence) Fork() (model.Sequence, error) {
	if s.released {
		return nil, fmt.Errorf("gemma: %w", errReleased)
	}
	f := &sequence{backend: s.backend, length: s.length, answerable: s.answerable}
	f.last = append(f.last, s.last...)
	for i := range s.layers {
		f.layers = append(f.layers, s.layers[i].fork())
	}
	return f, nil
}

func (s *sequence) Release() {
	for i := range s.layers {
		s.layers[i].release()
	}
	s.released, s.answerable, s.length = true, false, 0
}

func (s *sequence) NewCanvas(length int) (model.Canvas, error) {
	if s.released {
		return nil, fmt.Errorf("gemma: %w", errReleased)
	}
	c := &canvasState{backend: s.backend, sequence: s}
	if err := c.Reset(length); err != nil {
		return nil, err
	}
	return c, nil
}

// canvasState is a model.Canvas: the logits that the last denoising step left.
type canvasState struct {
	backend  *Backend
	sequence *sequence
	length   int
	logits   *kernel.Logits
	// conditioned is true when logits holds those of a step.
	conditioned bool
	// next is where a step writes whose step may still fail; taken says that it
	// wrote to logits at once.
	next     *kernel.Logits
	taken    bool
	released bool
}

func (c *canvasState) Len() int { return c.length }

func (c *canvasState) Reset(length int) error {
	if c.released {
		return fmt.Errorf("gemma: %w", errCanvasReleased)
	}
	if length < 1 || length > c.backend.config.canvas {
		return fmt.Errorf("gemma: a canvas of %d positions; this model takes 1 to %d", length, c.backend.config.canvas)
	}
	if c.logits == nil {
		c.logits = kernel.NewLogits(c.backend.vocabulary, length, c.backend.round)
	} else {
		c.logits.Reset(length)
	}
	c.length, c.conditioned = length, false
	return nil
}

// fresh returns where the logits of a denoising step go. Those of the step before
// must outlive a failure of a later item; for the last item they need not.
func (c *canvasState) fresh(last bool) *kernel.Logits {
	if c.taken = last; last {
		return c.logits
	}
	if c.next == nil {
		c.next = kernel.NewLogits(c.backend.vocabulary, c.length, c.backend.round)
	} else {
		c.next.Reset(c.length)
	}
	return c.next
}

// take makes the logits of a step that has succeeded those that the next one
// reads. Logits with NaN or infinity are none: the canvas is as after Reset.
func (c *canvasState) take(finite bool) {
	if !c.taken && finite {
		c.logits, c.next = c.next, c.logits
	}
	c.conditioned = finite
}

func (c *canvasState) Release() { c.released, c.logits, c.next, c.conditioned = true, nil, nil, false }

func (c *canvasState) Logits(dst []float32) error {
	if !c.conditioned {
		return errors.New("gemma: the canvas has no logits yet")
	}
	return c.logits.Copy(dst)
}

func (c *canvasState) SetLogits(src []float32) error {
	if c.released {
		return fmt.Errorf("gemma: %w", errCanvasReleased)
	}
	if err := c.logits.Set(src); err != nil {
		return err
	}
	c.conditioned = true
	return nil
}
