package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/model"
)

// A countdown is a context that ends when it is asked for the n-th time whether
// it has, so that every place where a backend asks can be tried in turn.
type countdown struct {
	context.Context
	lock sync.Mutex
	left int
	done chan struct{}
}

func newCountdown(n int) *countdown {
	return &countdown{Context: context.Background(), left: n, done: make(chan struct{})}
}

func (c *countdown) ask() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.left--
	if c.left == 0 {
		close(c.done)
	}
	return c.left <= 0
}

func (c *countdown) Done() <-chan struct{} {
	c.ask()
	return c.done
}

func (c *countdown) Err() error {
	if c.ask() {
		return context.Canceled
	}
	return nil
}

// checkCancelled ends the context before a step, and at every place inside one
// where the backend looks at it. Nothing may have changed after any of them.
func checkCancelled(t *testing.T, h *harness) {
	const most = 10000 // places to look, far more than any backend has here
	s := h.prefilled(t, 1)
	other := h.sequence(t)
	before := h.state(t, s)
	ids := h.tokens(2, 3)
	want := h.encode(t, h.prefilled(t, 1), ids, 0)
	places := 0
	for n := 1; n <= most; n++ {
		items := []model.Item{{Encode: h.encodeItem(s, ids)}, {Encode: h.encodeItem(other, ids)}}
		results, err := h.Step(newCountdown(n), items)
		if err == nil {
			equal(t, "encode that was cancelled before and one that was not", results[0].Stats, want)
			break
		}
		places++
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("context that ends when asked for the time %d: %v", n, err)
		}
		if s.Len() != h.prompt || other.Len() != 0 {
			t.Fatalf("a cancelled encode changed the lengths from %d to %d and from 0 to %d", h.prompt, s.Len(), other.Len())
		}
		if n <= 2 {
			equalAll(t, "after a cancelled encode", h.state(t, s), before)
		}
	}
	if places < 2 {
		t.Errorf("the backend looked at the context %d times in a step, want once before it and at least once within", places)
	}
	if h.Capabilities().Denoise {
		checkCancelledDenoise(t, h)
	}
}

func checkCancelledDenoise(t *testing.T, h *harness) {
	s := h.prefilled(t, 1)
	c := h.canvas(t, s, h.full)
	want := h.denoise(t, s, c, 3)
	for n := 1; n <= 4; n++ {
		if err := c.Reset(h.full); err != nil {
			t.Fatal(err)
		}
		got := h.denoise(t, s, c, 2)
		_, err := h.Step(newCountdown(n), []model.Item{{Denoise: h.denoiseItem(s, c, 2)}})
		if err == nil {
			return // fewer places than n
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("context that ends when asked for the time %d: %v", n, err)
		}
		last := h.step(t, model.Item{Denoise: h.denoiseItem(s, c, 2)})[0].Stats
		equalAll(t, "steps with a cancelled one between them", append(got, last), want)
	}
	checkCancelledNeighbour(t, h, want)
}

// checkCancelledNeighbour ends the context inside the second canvas of a step: the
// first one must not have taken over what that step computed.
func checkCancelledNeighbour(t *testing.T, h *harness, want [][]canvas.Stats) {
	const most = 10000
	s, other := h.prefilled(t, 1), h.prefilled(t, 2)
	c, neighbour := h.canvas(t, s, h.full), h.canvas(t, other, h.full)
	for n := 1; n <= most; n++ {
		if err := c.Reset(h.full); err != nil {
			t.Fatal(err)
		}
		got := h.denoise(t, s, c, 2)
		items := []model.Item{{Denoise: h.denoiseItem(s, c, 2)}, {Denoise: h.denoiseItem(other, neighbour, 0)}}
		results, err := h.Step(newCountdown(n), items)
		if err == nil {
			equalAll(t, "steps beside another canvas", append(got, results[0].Stats), want)
			return
		}
		last := h.step(t, model.Item{Denoise: h.denoiseItem(s, c, 2)})[0].Stats
		equalAll(t, fmt.Sprintf("steps with one between them that was cancelled at %d, in another canvas perhaps", n), append(got, last), want)
		if t.Failed() {
			return
		}
	}
}
