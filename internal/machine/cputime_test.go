package machine

import "testing"

// The time grows with work, and does not run backwards.
func TestCPUTime(t *testing.T) {
	first, ok := CPUTime()
	if !ok {
		t.Skip("this system does not tell")
	}
	last := first
	for x := uint32(1); last == first; {
		for range 1_000_000 {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
		}
		if last, ok = CPUTime(); !ok || last < first || x == 0 {
			t.Fatalf("after %v: %v, %v", first, last, ok)
		}
	}
}
