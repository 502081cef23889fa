package bench

// Bounds of a kernel.
const (
	// BoundPeak means that the unit binds.
	BoundPeak = "peak"
	// BoundBandwidth means that memory does.
	BoundBandwidth = "bandwidth"
)

// A Work is what a kernel computes and moves, and how fast it did so.
type Work struct {
	// Operations counts float32 multiplications and additions.
	Operations float64 `json:"operations"`
	// Bytes are those that must be read or written at least once.
	Bytes float64 `json:"bytes"`

	OperationsPerSecond float64 `json:"operations_per_second"`
	BytesPerSecond      float64 `json:"bytes_per_second"`
	// Bound says what the least time follows from: BoundPeak or BoundBandwidth.
	Bound string `json:"bound"`
	// Share is the least time by the time taken. It may exceed 1 where bytes came
	// from a cache.
	Share float64 `json:"share_of_ceiling"`
}

// A ceiling is what a class can do on some threads, by the clock.
type ceiling struct{ peak, bandwidth float64 }

// newWork sets the rates of work that took so long below a ceiling. Without time or
// ceiling they are 0.
func newWork(operations, bytes, seconds float64, c ceiling) Work {
	w := Work{Operations: operations, Bytes: bytes, Bound: BoundPeak}
	if seconds <= 0 || c.peak <= 0 || c.bandwidth <= 0 {
		return w
	}
	w.OperationsPerSecond, w.BytesPerSecond = operations/seconds, bytes/seconds
	least := operations / c.peak
	if bytes/c.bandwidth > least {
		w.Bound, least = BoundBandwidth, bytes/c.bandwidth
	}
	w.Share = least / seconds
	return w
}
