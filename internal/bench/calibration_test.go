package bench

import "testing"

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
			k := Calibration{Peaks: []Rate{{Class: "generic", Threads: 1, Before: 100}}, Bandwidths: []Rate{{Threads: 1, Before: 20}}}
			k.join([]Rate{{Class: "generic", Threads: 1, Before: c.peak}}, []Rate{{Threads: 1, Before: c.bandwidth}})
			if k.Drifted != c.drifted {
				t.Errorf("drift %v: drifted is %v", k.Drift, k.Drifted)
			}
			peak, bandwidth := k.ceiling("generic", 1)
			if peak != max(100, c.peak) || bandwidth != max(20, c.bandwidth) {
				t.Errorf("ceilings %v and %v are not the better rounds", peak, bandwidth)
			}
			if peak, bandwidth := k.ceiling("generic", 2); peak != 0 || bandwidth != 0 {
				t.Errorf("ceilings %v and %v of a thread count that was not measured", peak, bandwidth)
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
		if got := newWork(c.operations, c.bytes, c.seconds, peak, bandwidth); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
