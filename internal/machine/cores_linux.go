package machine

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Cores returns the number of physical cores that this process may use: those
// in its CPU affinity, no more than the CPU quota of its cgroups rounded up,
// and at least 1.
func Cores() int {
	n := runtime.NumCPU()
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		n = physicalCores(root(), allowed(&set))
	}
	if quota, ok := cpuQuota(root()); ok {
		n = min(n, int(math.Ceil(quota)))
	}
	return max(n, 1)
}

// root is the file system of this machine, with paths from "/" on but without
// the first slash.
func root() fs.FS { return os.DirFS("/") }

func allowed(set *unix.CPUSet) []int {
	var cpus []int
	for cpu := range 64 * len(set) {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// physicalCores counts the cores to which the given logical processors belong.
// A processor of which that is not known counts as one.
//
// The list of a core's processors tells cores apart on every machine; core_id
// does not where it counts within a cluster of cores.
func physicalCores(root fs.FS, cpus []int) int {
	cores := map[string]bool{}
	for _, cpu := range cpus {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
		siblings, err := fs.ReadFile(root, dir+"core_cpus_list")
		if err != nil {
			siblings, err = fs.ReadFile(root, dir+"thread_siblings_list") // before Linux 5.3
		}
		if err != nil {
			siblings = fmt.Append(nil, cpu)
		}
		cores[strings.TrimSpace(string(siblings))] = true
	}
	return len(cores)
}

// cpuQuota returns the smallest CPU quota, in cores, of the cgroups that this
// process is in.
func cpuQuota(root fs.FS) (cores float64, ok bool) {
	for _, g := range cgroups(root, "cpu") {
		quota, err := g.cpuQuota(root)
		if err == nil && (!ok || quota < cores) {
			cores, ok = quota, true
		}
	}
	return cores, ok
}

// cpuQuota returns the quota of one cgroup in cores, or an error when it has
// none.
func (g cgroup) cpuQuota(root fs.FS) (float64, error) {
	if g.v2 {
		text, err := fs.ReadFile(root, g.dir+"/cpu.max")
		if err != nil {
			return 0, err
		}
		return parseCPUMax(string(text))
	}
	quota, err := readInt(root, g.dir+"/cpu.cfs_quota_us")
	if err != nil {
		return 0, err
	}
	period, err := readInt(root, g.dir+"/cpu.cfs_period_us")
	if err != nil {
		return 0, err
	}
	return quotaCores(quota, period)
}

// parseCPUMax reads cpu.max of cgroup v2: "QUOTA PERIOD" in microseconds, where
// QUOTA may be "max".
func parseCPUMax(text string) (float64, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, fmt.Errorf("cpu.max %q", text)
	}
	if fields[0] == "max" {
		return 0, fmt.Errorf("no CPU quota")
	}
	quota, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, err
	}
	period, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0, err
	}
	return quotaCores(quota, period)
}

// quotaCores divides; cgroup v1 says "no quota" as -1.
func quotaCores(quota, period int64) (float64, error) {
	if quota <= 0 || period <= 0 {
		return 0, fmt.Errorf("no CPU quota")
	}
	return float64(quota) / float64(period), nil
}

func readInt(root fs.FS, name string) (int64, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
