package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/machine"
)

// readBytes is the memory that each thread reads when the bandwidth is measured:
// more than caches hold.
const readBytes = 256 << 20

// readWords is the number of words that each of some threads reads: readBytes, or less
// where they would take more than half of the available memory. 0 bytes available
// means that the system does not tell.
func readWords(threads int, available int64) int {
	bytes := int64(readBytes)
	if available > 0 {
		bytes = min(bytes, available/2/int64(threads))
	}
	return int(bytes / 8)
}

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
	// PerCPU is the rate for a second of computing time, in the better round: what
	// neighbours disturb less. 0 where the system does not tell.
	PerCPU float64 `json:"per_cpu_second"`
}

// newRate is the first round of a rate: how much was done in a run.
func newRate(class string, threads int, done float64, t Timing) Rate {
	r := Rate{Class: class, Threads: threads, Before: done / t.Seconds}
	if t.CPUSeconds > 0 {
		r.PerCPU = done / t.CPUSeconds
	}
	return r
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
	most := threads[len(threads)-1]
	_, available, _ := machine.Memory()
	each := readWords(most, available)
	data := make([]uint64, most*each)
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
			peaks = append(peaks, newRate(class, n, operations, took))
			if i == 0 {
				part := data[:n*each]
				took := measure(calibrationTime, func() { team.Read(part) })
				bandwidths = append(bandwidths, newRate("", n, 8*float64(len(part)), took))
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
			r := &round.first[i]
			r.After, r.PerCPU = round.second[i].Before, max(r.PerCPU, round.second[i].PerCPU)
			c.Drift = max(c.Drift, r.drift())
		}
	}
	c.Drifted = c.Drift > MaxDrift
}

// ceilings returns those of a class and thread count, the better of both rounds: by the
// clock, and for a second of computing time.
func (c *Calibration) ceilings(class string, threads int) (clock, computing ceiling) {
	for _, r := range c.Peaks {
		if r.Class == class && r.Threads == threads {
			clock.peak, computing.peak = r.best(), r.PerCPU
		}
	}
	for _, r := range c.Bandwidths {
		if r.Threads == threads {
			clock.bandwidth, computing.bandwidth = r.best(), r.PerCPU
		}
	}
	return clock, computing
}
