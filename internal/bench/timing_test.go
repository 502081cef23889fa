package bench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		seconds []float64
		want    Timing
	}{
		{[]float64{2}, Timing{Runs: 1, Seconds: 2, Least: 2, Most: 2}},
		{[]float64{9, 1, 2}, Timing{Runs: 3, Seconds: 2, Least: 1, Most: 9}},
		{[]float64{4, 1, 9, 2}, Timing{Runs: 4, Seconds: 3, Least: 1, Most: 9}},
	} {
		before := append([]float64(nil), c.seconds...)
		if diff := cmp.Diff(c.want, summarize(c.seconds)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.seconds, diff)
		}
		if diff := cmp.Diff(before, c.seconds); diff != "" {
			t.Errorf("the runs were reordered:\n%s", diff)
		}
	}
}

// Short work is repeated within a run, and the first time counts for nothing.
func TestMeasure(t *testing.T) {
	calls := 0
	got := measure(time.Millisecond, func() { calls++ })
	if got.Runs < 1 || calls < 2 || got.Least > got.Seconds || got.Seconds > got.Most {
		t.Errorf("%d calls: %+v", calls, got)
	}
	if calls <= got.Runs+1 {
		t.Errorf("%d calls in %d runs: an empty function was not repeated", calls, got.Runs)
	}
	calls = 0
	if got := measure(0, func() { calls++; time.Sleep(2 * leastSample) }); got.Runs != 1 || calls != 2 {
		t.Errorf("without a budget: %d calls in %d runs, want one beside the first", calls, got.Runs)
	}
}

func TestEffort(t *testing.T) {
	if got := (Timing{Least: 2, CPUSeconds: 3}).effort(); got != 3 {
		t.Errorf("with computing time: %v", got)
	}
	if got := (Timing{Least: 2, Seconds: 4}).effort(); got != 2 {
		t.Errorf("without computing time: %v", got)
	}
}

func TestThreadCounts(t *testing.T) {
	for n, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 8: {1, 2, 4, 8}, 12: {1, 2, 4, 8, 12}} {
		if diff := cmp.Diff(want, ThreadCounts(n)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", n, diff)
		}
	}
}
