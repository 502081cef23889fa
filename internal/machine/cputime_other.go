//go:build !unix && !windows

package machine

import "time"

// CPUTime returns the time that all threads of this process have spent computing,
// false where the system does not tell.
func CPUTime() (spent time.Duration, ok bool) { return 0, false }
