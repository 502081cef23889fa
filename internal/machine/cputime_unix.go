//go:build unix

package machine

import (
	"syscall"
	"time"
)

// CPUTime returns the time that all threads of this process have spent computing,
// false where the system does not tell.
func CPUTime() (spent time.Duration, ok bool) {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0, false
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), true
}
