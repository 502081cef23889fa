package fresco

import (
	"context"
	"errors"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/pool"
)

// checkpoints lists an embedded model and a folder, with a request for each.
func checkpoints(t *testing.T) map[string]Options {
	t.Helper()
	return map[string]Options{
		"sudoku":                          {Prompt: "x", MaxSteps: 1, MaxTokens: 1},
		fixtures.Dir(t, "text/ckpt/tiny"): {IDs: []int32{2, 5, 17}, MaxSteps: 1, MaxTokens: 1, NoGuards: true},
	}
}

func TestClosed(t *testing.T) {
	for name, options := range checkpoints(t) {
		m, err := Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Answer(t.Context(), options); err != nil {
			t.Errorf("%s: before Close: %v", name, err)
		}
		for range 2 {
			if err := m.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}
		if result, err := m.Answer(t.Context(), options); !errors.Is(err, ErrClosed) || result != nil {
			t.Errorf("%s: Answer after Close: %v, %v", name, result, err)
		}
		if err := m.Validate(options); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: Validate after Close: %v", name, err)
		}
		if m.Info().Name != name {
			t.Errorf("%s: Info after Close: %+v", name, m.Info())
		}
	}
}

// While one Generate runs, another and Close are refused, on the same goroutine
// and on others; it goes on undisturbed, and afterwards both are possible.
func TestOneAtATime(t *testing.T) {
	for name, options := range checkpoints(t) {
		m, err := Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		use := func(where string) {
			if _, err := m.Answer(context.Background(), options); !errors.Is(err, ErrBusy) {
				t.Errorf("%s: Answer %s: %v", name, where, err)
			}
			if err := m.Close(); !errors.Is(err, ErrBusy) {
				t.Errorf("%s: Close %s: %v", name, where, err)
			}
			if err := m.Validate(options); err != nil {
				t.Errorf("%s: Validate %s: %v", name, where, err)
			}
		}
		finished := false
		for event, err := range m.Generate(t.Context(), options) {
			if err != nil {
				t.Fatal(err)
			}
			use("inside the loop")
			done := make(chan struct{})
			go func() {
				defer close(done)
				use("on another goroutine")
			}()
			<-done
			_, finished = event.(*Finished)
		}
		if !finished {
			t.Errorf("%s: no end", name)
		}
		for range m.Generate(t.Context(), options) {
			break // leaving the loop ends the use
		}
		for range m.Generate(t.Context(), Options{MaxTokens: -1}) { // so does a refusal
		}
		if err := m.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThreads(t *testing.T) {
	if m := open(t); m.Info().Threads != pool.Cores() {
		t.Errorf("%d threads by default, the machine has %d cores", m.Info().Threads, pool.Cores())
	}
	for _, threads := range []int{-1, 1025} {
		m, err := Open("sudoku", &OpenOptions{Threads: threads})
		var refused *RequestError
		if !errors.As(err, &refused) || refused.Field != "threads" || m != nil {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
}

func TestOpenNothing(t *testing.T) {
	const want = "no model is named; it is an embedded one or a folder (embedded: sudoku)"
	if _, err := Open("", nil); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
