package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCalibrationDrift(t *testing.T) {
	for _, c := range []struct {
		name            string
		peak, bandwidth float64
		drifted         bool
	}{
		{"steady", 100, 20, false},
		{"peak fell by a tenth", 90, 20, false},
		{"peak fell", 80, 20, true},
		{"bandwidth rose", 100, 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Calibration{Peaks: []Rate{{Class: "generic", Threads: 1, Before: 100, PerCPU: 120}}, Bandwidths: []Rate{{Threads: 1, Before: 20, PerCPU: 30}}}
			k.join([]Rate{{Class: "generic", Threads: 1, Before: c.peak, PerCPU: 110}}, []Rate{{Threads: 1, Before: c.bandwidth, PerCPU: 40}})
			if k.Drifted != c.drifted {
				t.Errorf("drift %v: drifted is %v", k.Drift, k.Drifted)
			}
			clock, computing := k.ceilings("generic", 1)
			if want := (ceiling{max(100, c.peak), max(20, c.bandwidth)}); clock != want {
				t.Errorf("ceilings %v are not the better rounds, %v", clock, want)
			}
			if want := (ceiling{120, 40}); computing != want {
				t.Errorf("ceilings by computing time %v, want %v", computing, want)
			}
			if clock, computing := k.ceilings("generic", 2); clock != (ceiling{}) || computing != (ceiling{}) {
				t.Errorf("ceilings %v and %v of a thread count that was not measured", clock, computing)
			}
		})
	}
}

func TestWork(t *testing.T) {
	const peak, bandwidth = 100, 10
	for _, c := range []struct {
		name                       string
		operations, bytes, seconds float64
		want                       Work
	}{
		{"the unit binds", 200, 10, 4, Work{200, 10, 50, 2.5, BoundPeak, 0.5}},
		{"memory binds", 200, 30, 4, Work{200, 30, 50, 7.5, BoundBandwidth, 0.75}},
		{"no time", 200, 30, 0, Work{Operations: 200, Bytes: 30, Bound: BoundPeak}},
		{"no work", 0, 0, 1, Work{Bound: BoundPeak}},
	} {
		if got := newWork(c.operations, c.bytes, c.seconds, ceiling{peak, bandwidth}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestNewRate(t *testing.T) {
	want := Rate{Class: "generic", Threads: 2, Before: 50, PerCPU: 25}
	if diff := cmp.Diff(want, newRate("generic", 2, 100, Timing{Seconds: 2, CPUSeconds: 4})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := newRate("generic", 2, 100, Timing{Seconds: 2}); got.PerCPU != 0 {
		t.Errorf("%v a second of a computing time that is not known", got.PerCPU)
	}
}

func TestReadWords(t *testing.T) {
	for _, c := range []struct {
		threads   int
		available int64
		want      int
	}{{1, 0, 32 << 20}, {1024, 0, 32 << 20}, {2, 8 << 30, 32 << 20}, {64, 8 << 30, 8 << 20}} {
		if got := readWords(c.threads, c.available); got != c.want {
			t.Errorf("%d threads, %d bytes: %d, want %d", c.threads, c.available, got, c.want)
		}
	}
}
