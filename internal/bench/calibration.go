package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/frescolm/fresco/internal/kernel"
)

// readBytes is the memory that each thread reads when the bandwidth is measured:
// more than caches hold.
const readBytes = 256 << 20

// calibrationTime is spent on one peak or bandwidth, in each of the two rounds.
const calibrationTime = 100 * time.Millisecond

// A Calibration is what the machine can do, measured before and after the work.
type Calibration struct {
	// Peaks has one entry for each class and thread count, in float32 operations a
	// second, a multiply-add being two.
	Peaks []Rate `json:"peak_operations_per_second"`
	// Bandwidths has one entry for each thread count, in bytes read a second.
	Bandwidths []Rate `json:"read_bytes_per_second"`
	// Drift is the largest change between the two rounds: 0.1 is 10 %.
	Drift float64 `json:"drift"`
	// Drifted is true when that is more than MaxDrift.
	Drifted bool `json:"drifted"`
}

// MaxDrift is the change between two calibrations from which a run is disturbed.
const MaxDrift = 0.10

// A Rate is a number per second before and after the work.
type Rate struct {
	// Class is the kernel class, empty for a bandwidth.
	Class   string  `json:"kernel_class,omitempty"`
	Threads int     `json:"threads"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

// best is what ceilings are taken from: the machine can do it.
func (r Rate) best() float64 { return max(r.Before, r.After) }

// drift is the change between the two rounds, by the larger one.
func (r Rate) drift() float64 {
	return math.Abs(r.Before-r.After) / r.best()
}

// String names what was measured.
func (r Rate) String() string {
	if r.Class == "" {
		return fmt.Sprintf("reading on %d", r.Threads)
	}
	return fmt.Sprintf("%s on %d", r.Class, r.Threads)
}

// calibrate measures the classes and the memory once for every thread count.
func calibrate(classes []string, threads []int) (peaks, bandwidths []Rate, err error) {
	data := make([]uint64, threads[len(threads)-1]*readBytes/8)
	for i := range data { // memory that was never written is one page
		data[i] = uint64(i)
	}
	for _, n := range threads {
		for i, class := range classes {
			k, err := kernel.Choose(class)
			if err != nil {
				return nil, nil, err
			}
			team := kernel.NewTeam(k, n)
			operations := team.MultiplyAdds()
			took := measure(calibrationTime, func() { team.MultiplyAdds() })
			peaks = append(peaks, Rate{Class: class, Threads: n, Before: operations / took.Seconds})
			if i == 0 {
				part := data[:n*readBytes/8]
				took := measure(calibrationTime, func() { team.Read(part) })
				bandwidths = append(bandwidths, Rate{Threads: n, Before: 8 * float64(len(part)) / took.Seconds})
			}
			team.Close()
		}
	}
	return peaks, bandwidths, nil
}

// begin makes the round before the work.
func (c *Calibration) begin(classes []string, threads []int) (err error) {
	c.Peaks, c.Bandwidths, err = calibrate(classes, threads)
	return err
}

// end makes the round after it, of the same classes and thread counts.
func (c *Calibration) end(classes []string, threads []int) error {
	peaks, bandwidths, err := calibrate(classes, threads)
	if err != nil {
		return err
	}
	c.join(peaks, bandwidths)
	return nil
}

// join takes a second round, in the order of the first.
func (c *Calibration) join(peaks, bandwidths []Rate) {
	c.Drift = 0
	for _, round := range []struct{ first, second []Rate }{{c.Peaks, peaks}, {c.Bandwidths, bandwidths}} {
		for i := range round.first {
			round.first[i].After = round.second[i].Before
			c.Drift = max(c.Drift, round.first[i].drift())
		}
	}
	c.Drifted = c.Drift > MaxDrift
}

// ceiling returns peak and bandwidth of a class and thread count, the better of
// both rounds.
func (c *Calibration) ceiling(class string, threads int) (peak, bandwidth float64) {
	for _, r := range c.Peaks {
		if r.Class == class && r.Threads == threads {
			peak = r.best()
		}
	}
	for _, r := range c.Bandwidths {
		if r.Threads == threads {
			bandwidth = r.best()
		}
	}
	return peak, bandwidth
}
