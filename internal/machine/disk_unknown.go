//go:build !linux && !darwin && !windows

package machine

// FreeDisk is not known on this system.
func FreeDisk(dir string) (bytes int64, ok bool) { return 0, false }
