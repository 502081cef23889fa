package machine

import (
	"syscall"
	"time"
)

// CPUTime returns the time that all threads of this process have spent computing,
// false where the system does not tell.
func CPUTime() (spent time.Duration, ok bool) {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		return 0, false
	}
	const unit = 100 * time.Nanosecond
	ticks := func(t syscall.Filetime) time.Duration {
		return time.Duration(t.HighDateTime)<<32 | time.Duration(t.LowDateTime)
	}
	return (ticks(kernel) + ticks(user)) * unit, true
}
