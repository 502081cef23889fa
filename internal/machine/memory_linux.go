package machine

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
)

// Memory returns in bytes the memory that this process may use, what of it is
// available now, and where the smaller limit comes from. What is not known is 0.
//
// Memory that holds cached file contents counts as available, also within a
// cgroup: the kernel drops it under pressure.
func Memory() (total, available int64, source string) { return memory(root()) }

// PeakMemory returns the largest resident set of this process so far, in bytes.
func PeakMemory() (bytes int64, ok bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	return parseKilobytes(string(status), "VmHWM")
}

func memory(root fs.FS) (total, available int64, source string) {
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		total, _ = parseKilobytes(string(text), "MemTotal")
		if n, ok := parseKilobytes(string(text), "MemAvailable"); ok {
			available, source = n, "MemAvailable of /proc/meminfo"
		}
	}
	machine := total
	for _, g := range cgroups(root, "memory") {
		limit, free, err := g.memory(root)
		if err != nil || machine > 0 && limit >= machine {
			continue // version 1 says "no limit" as a huge one
		}
		if total == 0 || limit < total {
			total = limit
		}
		if source == "" || free < available {
			available, source = free, "memory limit of cgroup /"+g.dir
		}
	}
	return total, available, source
}

// memory returns the memory limit of one cgroup and what is left of it, or an
// error when it has no limit.
func (g cgroup) memory(root fs.FS) (limit, free int64, err error) {
	limitFile, usageFile, prefix := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"
	if g.v2 {
		limitFile, usageFile, prefix = "memory.max", "memory.current", ""
	}
	// memory.max is "max" without a limit, which is no number.
	if limit, err = readInt(root, g.dir+"/"+limitFile); err != nil {
		return 0, 0, err
	}
	if limit <= 0 || limit > math.MaxInt64/2 {
		return 0, 0, fmt.Errorf("no memory limit")
	}
	usage, err := readInt(root, g.dir+"/"+usageFile)
	if err != nil {
		return 0, 0, err
	}
	if text, err := fs.ReadFile(root, g.dir+"/memory.stat"); err == nil {
		usage -= parseStat(string(text), prefix+"inactive_file") + parseStat(string(text), prefix+"active_file")
	}
	return limit, max(0, limit-max(0, usage)), nil
}

// parseKilobytes finds a line "KEY:   123 kB" and returns bytes.
func parseKilobytes(text, key string) (int64, bool) {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ":")
		if !ok || name != key {
			continue
		}
		fields := strings.Fields(value)
		if len(fields) != 2 || fields[1] != "kB" {
			return 0, false
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/1024 {
			return 0, false
		}
		return n * 1024, true
	}
	return 0, false
}

// parseStat finds a line "KEY 123" of memory.stat; an absent key is 0.
func parseStat(text, key string) int64 {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == key {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}
