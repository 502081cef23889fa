//go:build !linux

package machine

import "runtime"

// Cores returns the number of logical processors: this system does not tell
// cheaply which of them share a core.
func Cores() int { return runtime.NumCPU() }
