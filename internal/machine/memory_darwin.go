package machine

import "golang.org/x/sys/unix"

// Memory returns in bytes the memory of the machine, what of it is available
// now, and where the figure comes from. What is not known is 0. Free pages and
// pages that hold file contents count as available.
func Memory() (total, available int64, source string) {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, 0, ""
	}
	var pages int64
	for _, name := range []string{"vm.page_free_count", "vm.page_pageable_external_count"} {
		n, err := unix.SysctlUint32(name)
		if err != nil {
			return int64(size), 0, ""
		}
		pages += int64(n)
	}
	return int64(size), pages * int64(unix.Getpagesize()), "sysctl vm.page_free_count, vm.page_pageable_external_count"
}

// PeakMemory returns the largest resident set of this process so far, in bytes.
func PeakMemory() (bytes int64, ok bool) {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0, false
	}
	return usage.Maxrss, true // in bytes on this system
}
