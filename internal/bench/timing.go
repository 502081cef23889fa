package bench

import (
	"slices"
	"time"

	"github.com/frescolm/fresco/internal/machine"
)

// A Timing is what repeated runs of the same work took.
type Timing struct {
	Runs int `json:"runs"`
	// Seconds is the median of the runs, Least and Most are the extremes.
	Seconds float64 `json:"seconds"`
	Least   float64 `json:"least_seconds"`
	Most    float64 `json:"most_seconds"`
	// CPUSeconds is the computing time of all threads of a run, their mean: what
	// neighbours disturb less. 0 where the system does not tell.
	CPUSeconds float64 `json:"cpu_seconds"`
}

// effort is what runs are compared by where neighbours may disturb them: the computing
// time, or where it is not known the shortest run.
func (t Timing) effort() float64 {
	if t.CPUSeconds > 0 {
		return t.CPUSeconds
	}
	return t.Least
}

const (
	// leastRuns are made even when they take longer than the budget allows, unless
	// a single run does so.
	leastRuns = 3
	mostRuns  = 1000
	// leastSample is the least time of a run: shorter work is repeated within it,
	// so that the clock does not matter.
	leastSample = time.Millisecond
)

// measure runs f once for nothing and then for about the budget.
func measure(budget time.Duration, f func()) Timing {
	begun := time.Now()
	f()
	repeat := 1 + int(leastSample/(time.Since(begun)+1))
	var seconds []float64
	cpu, _ := machine.CPUTime()
	for len(seconds) < mostRuns {
		spent := time.Since(begun)
		if len(seconds) > 0 && (spent > 2*budget || len(seconds) >= leastRuns && spent > budget) {
			break
		}
		at := time.Now()
		for range repeat {
			f()
		}
		seconds = append(seconds, time.Since(at).Seconds()/float64(repeat))
	}
	t := summarize(seconds)
	if now, ok := machine.CPUTime(); ok {
		t.CPUSeconds = (now - cpu).Seconds() / float64(t.Runs*repeat)
	}
	return t
}

// summarize returns the median and the extremes of at least one run.
func summarize(seconds []float64) Timing {
	sorted := slices.Sorted(slices.Values(seconds))
	n := len(sorted)
	return Timing{
		Runs: n, Seconds: (sorted[(n-1)/2] + sorted[n/2]) / 2, Least: sorted[0], Most: sorted[n-1],
	}
}

// ThreadCounts lists the thread counts at which scaling is measured: 1, 2, 4 … and
// n.
func ThreadCounts(n int) []int {
	var list []int
	for t := 1; t < n; t *= 2 {
		list = append(list, t)
	}
	return append(list, n)
}
