package eval

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/engine"
)

// stream yields events, then err when it is not nil.
func stream(err error, events ...engine.Event) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func TestCollect(t *testing.T) {
	best := []int32{1, 2} // overwritten between events, as the engine may
	draft := func(canvas int, redraw bool, ids ...int32) engine.Event {
		return &engine.Draft{Canvas: canvas, Redraw: redraw, Best: ids}
	}
	events := func(yield func(engine.Event, error) bool) {
		_ = yield(&engine.Started{}, nil) && yield(draft(0, false, 9, 9), nil) &&
			yield(&engine.Draft{Redraw: true, Best: best}, nil)
		best[0] = 7
		_ = yield(&engine.Draft{Redraw: true, Best: best}, nil) && yield(draft(1, false, 5), nil) &&
			yield(&engine.Finished{
				Text: "42", Reason: engine.FinishStop,
				Canvases: []engine.CanvasReport{{Stop: engine.StopGuard}, {Stop: engine.StopConverged, Redraw: true}, {Stop: engine.StopCap}},
				Usage:    engine.Usage{Forwards: 4},
				Timing:   engine.Timing{Prefill: time.Second, Decode: 2 * time.Second},
			}, nil)
	}
	got, err := Collect(events)
	if err != nil {
		t.Fatal(err)
	}
	want := Outcome{
		Text: "42", Steps: 4, Finish: engine.FinishStop,
		Stops:  []engine.CanvasStop{engine.StopGuard, engine.StopConverged, engine.StopCap},
		Drafts: [][]int32{{1, 2}, {7, 2}},
		Took:   3 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCollectErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Collect(stream(broken, &engine.Started{})); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := Collect(stream(nil, &engine.Started{})); err == nil {
		t.Error("a stream without Finished was accepted")
	}
}

func TestCountRewrites(t *testing.T) {
	want := []int32{1, 2, 3, 4}
	for _, c := range []struct {
		name   string
		drafts [][]int32
		want   Rewrites
	}{
		{"none", nil, Rewrites{}},
		{"one draft", [][]int32{{9, 9, 9, 9}}, Rewrites{}},
		{"nothing changes", [][]int32{{9, 2, 3, 4}, {9, 2, 3, 4}}, Rewrites{}},
		{"each kind", [][]int32{{9, 2, 9, 4}, {1, 9, 8, 4}}, Rewrites{Changed: 3, WrongToRight: 1, RightToWrong: 1}},
		{"there and back", [][]int32{{1, 2, 3, 4}, {9, 2, 3, 4}, {1, 2, 3, 4}}, Rewrites{Changed: 2, WrongToRight: 1, RightToWrong: 1}},
		{"beyond the answer", [][]int32{{1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}}, Rewrites{}},
		{"a short canvas", [][]int32{{9, 2}, {1, 2}}, Rewrites{Changed: 1, WrongToRight: 1}},
	} {
		if diff := cmp.Diff(c.want, CountRewrites(c.drafts, want)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
