//go:build !linux && !darwin && !windows

package machine

// Memory is not known on this system.
func Memory() (total, available int64, source string) { return 0, 0, "" }

// PeakMemory is not known on this system.
func PeakMemory() (bytes int64, ok bool) { return 0, false }
