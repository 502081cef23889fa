package conformance

import (
	"strconv"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/model"
)

// checkTruncate commits one thing, takes it back and commits another: nothing of
// the first may be left.
func checkTruncate(t *testing.T, h *harness) {
	prompt, wrong, right := h.tokens(1, h.prompt), h.tokens(2, h.full), h.tokens(3, h.full)

	fresh := h.sequence(t)
	h.encode(t, fresh, prompt, 0)
	want := h.encode(t, fresh, right, 0)
	after := h.state(t, fresh)

	// All of the commit, part of it, and nothing of it is taken back.
	s := h.sequence(t)
	h.encode(t, s, prompt, 0)
	h.encode(t, s, wrong, 0)
	truncate(t, s, h.prompt)
	if h.Capabilities().Denoise {
		h.denoise(t, s, h.canvas(t, s, h.full), 1)
	}
	equal(t, "commit after a truncated one and alone", h.encode(t, s, right, 0), want)
	equalAll(t, "commit after a truncated one and alone: what follows", h.state(t, s), after)
	truncate(t, s, s.Len())
	equalAll(t, "truncate to the length itself: what follows", h.state(t, s), after)
	half := h.full / 2
	truncate(t, s, h.prompt+half)
	equal(t, "second half after a truncation and alone", h.encode(t, s, right[half:], 0), want[half:])
	equalAll(t, "second half after a truncation: what follows", h.state(t, s), after)

	// A commit longer than a canvas and a window can be taken back whole, also when
	// its last row was asked in between.
	long := 2*h.full + h.prompt + 200
	if 2*long > h.Config().MaxPositions {
		return
	}
	s = h.sequence(t)
	first := h.tokens(4, long)
	h.encode(t, s, first, 0)
	after = h.state(t, s)
	h.encode(t, s, h.tokens(5, long), 0)
	h.step(t, model.Item{Encode: &model.Encode{
		Sequence: s, Rows: []model.Row{{Index: model.LastCommitted, Sampling: h.sampling(1)}},
	}})
	truncate(t, s, long)
	equalAll(t, "after a long commit that was taken back and before it", h.state(t, s), after)
}

func truncate(t *testing.T, s model.Sequence, n int) {
	t.Helper()
	if err := s.Truncate(n); err != nil {
		t.Fatalf("truncate to %d of %d: %v", n, s.Len(), err)
	}
	if s.Len() != n {
		t.Fatalf("truncate to %d left %d tokens", n, s.Len())
	}
}

func checkTruncateTooFar(t *testing.T, h *harness) {
	s := h.sequence(t)
	h.encode(t, s, h.tokens(1, 3), 0)
	before := h.state(t, s)
	for _, n := range []int{-1, 4, 1 << 40} {
		if err := s.Truncate(n); err == nil {
			t.Errorf("truncate of 3 tokens to %d: no error", n)
		}
	}
	if s.Len() != 3 {
		t.Fatalf("failed truncations changed the length from 3 to %d", s.Len())
	}
	equalAll(t, "after failed truncations", h.state(t, s), before)

	// A backend may store everything. If it does not, a sequence much longer than
	// the window cannot go back to its beginning.
	c := h.Config()
	total := min(c.MaxPositions-h.full, 4*(c.Window+h.full))
	if total > 4096 || total < 8 {
		t.Skipf("%d tokens are too many or too few to look for the limit", total)
	}
	long, ids := h.sequence(t), h.tokens(2, total)
	for start := 0; start < total; start += h.full {
		h.encode(t, long, ids[start:min(total, start+h.full)], 0)
	}
	want := h.state(t, long)
	const back = 2
	if err := long.Truncate(back); err != nil {
		if !strings.Contains(err.Error(), "position "+strconv.Itoa(back)) {
			t.Errorf("the error does not name position %d: %v", back, err)
		}
		if long.Len() != total {
			t.Fatalf("a failed truncation changed the length from %d to %d", total, long.Len())
		}
		equalAll(t, "after a failed truncation", h.state(t, long), want)
		return
	}
	for start := back; start < total; start += h.full {
		h.encode(t, long, ids[start:min(total, start+h.full)], 0)
	}
	equalAll(t, "encoded again after a long truncation", h.state(t, long), want)
}

func checkFork(t *testing.T, h *harness) {
	prompt, left, right := h.tokens(1, h.prompt), h.tokens(2, h.full), h.tokens(3, h.full)
	alone := func(ids []int32) model.Sequence {
		s := h.sequence(t)
		h.encode(t, s, prompt, 0)
		h.encode(t, s, ids, 0)
		return s
	}
	wantLeft, wantRight := h.state(t, alone(left)), h.state(t, alone(right))

	for _, forkFirst := range []bool{true, false} {
		s := h.sequence(t)
		h.encode(t, s, prompt, 0)
		base := h.state(t, s)
		fork, err := s.Fork()
		if err != nil {
			t.Fatalf("fork: %v", err)
		}
		if fork.Len() != h.prompt {
			t.Fatalf("the fork of %d tokens has %d", h.prompt, fork.Len())
		}
		if forkFirst {
			h.encode(t, fork, right, 0)
			equalAll(t, "sequence after its fork went on", h.state(t, s), base)
			h.encode(t, s, left, 0)
		} else {
			h.encode(t, s, left, 0)
			equalAll(t, "fork after its sequence went on", h.state(t, fork), base)
			h.encode(t, fork, right, 0)
		}
		equalAll(t, "sequence with a fork and alone", h.state(t, s), wantLeft)
		equalAll(t, "fork and a sequence alone", h.state(t, fork), wantRight)

		truncate(t, s, h.prompt)
		equalAll(t, "fork after its sequence was truncated", h.state(t, fork), wantRight)
		s.Release()
		equalAll(t, "fork after its sequence was released", h.state(t, fork), wantRight)
		fork.Release()
	}
}

func checkReleased(t *testing.T, h *harness) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
		}
	}()
	s := h.NewSequence()
	h.encode(t, s, h.tokens(1, 3), 0)
	var c model.Canvas
	if h.Capabilities().Denoise {
		var err error
		if c, err = s.NewCanvas(h.short); err != nil {
			t.Fatal(err)
		}
		c.Release()
		c.Release()
		if err := c.Reset(h.short); err == nil {
			t.Error("reset of a released canvas: no error")
		}
		refused(t, h, model.Item{Denoise: &model.Denoise{Canvas: c, Sequence: s, IDs: h.tokens(1, h.short), Temperature: 1}})
	}
	s.Release()
	s.Release()
	if _, err := s.Fork(); err == nil {
		t.Error("fork of a released sequence: no error")
	}
	if err := s.Truncate(0); err == nil {
		t.Error("truncate of a released sequence: no error")
	}
	if _, err := s.NewCanvas(h.short); err == nil {
		t.Error("canvas of a released sequence: no error")
	}
}
