package machine

import (
	"testing"
	"testing/fstest"
)

// system builds a file system from names and contents.
func system(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

const (
	v2Mount = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	v1Mount = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n" +
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:10 - cgroup cgroup rw,cpu,cpuacct\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
)

func TestPhysicalCores(t *testing.T) {
	const dir = "sys/devices/system/cpu/"
	threads := map[string]string{ // 4 cores with 2 threads each, numbered as usual on x86
		dir + "cpu0/topology/core_cpus_list": "0,4\n", dir + "cpu4/topology/core_cpus_list": "0,4\n",
		dir + "cpu1/topology/core_cpus_list": "1,5\n", dir + "cpu5/topology/core_cpus_list": "1,5\n",
		dir + "cpu2/topology/core_cpus_list": "2,6\n", dir + "cpu6/topology/core_cpus_list": "2,6\n",
		dir + "cpu3/topology/core_cpus_list": "3,7\n", dir + "cpu7/topology/core_cpus_list": "3,7\n",
	}
	old := map[string]string{
		dir + "cpu0/topology/thread_siblings_list": "0-1\n", dir + "cpu1/topology/thread_siblings_list": "0-1\n",
		dir + "cpu2/topology/thread_siblings_list": "2-3\n", dir + "cpu3/topology/thread_siblings_list": "2-3\n",
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		cpus  []int
		want  int
	}{
		{"all threads", threads, []int{0, 1, 2, 3, 4, 5, 6, 7}, 4},
		{"pinned to both threads of one core", threads, []int{1, 5}, 1},
		{"pinned to one thread of three cores", threads, []int{0, 5, 6}, 3},
		{"before Linux 5.3", old, []int{0, 1, 2, 3}, 2},
		{"nothing known", nil, []int{0, 1, 2}, 3},
		{"half known", old, []int{0, 1, 9}, 2},
	} {
		if got := physicalCores(system(c.files), c.cpus); got != c.want {
			t.Errorf("%s: %d cores, want %d", c.name, got, c.want)
		}
	}
}

func TestCPUQuota(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  float64 // 0: none
	}{
		{"no cgroups", nil, 0},
		{"v2, own group", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/b/cpu.max": "150000 100000\n",
		}, 1.5},
		{"v2, the group above is tighter", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/b/cpu.max": "800000 100000\n", "sys/fs/cgroup/a/cpu.max": "25000 50000\n",
		}, 0.5},
		{"v2, no quota", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/cpu.max": "max 100000\n",
		}, 0},
		{"v2, at the top of a namespace", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/cpu.max": "200000 100000\n",
		}, 2},
		{"v2, a container that sees its own group as the top", map[string]string{
			"proc/self/cgroup":      "0::/docker/77\n",
			"proc/self/mountinfo":   "29 23 0:26 /docker/77 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/cpu.max": "300000 100000\n",
		}, 3},
		{"v2, a group outside of what is mounted", map[string]string{
			"proc/self/cgroup":      "0::/other\n",
			"proc/self/mountinfo":   "29 23 0:26 /docker/77 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/cpu.max": "300000 100000\n",
		}, 3},
		{"v1", map[string]string{
			"proc/self/cgroup": "4:memory:/m\n1:cpu,cpuacct:/x\n0::/\n", "proc/self/mountinfo": v1Mount,
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":  "400000\n",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":    "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":   "100000\n",
		}, 4},
		{"a mount point with a space", map[string]string{
			"proc/self/cgroup":        "0::/\n",
			"proc/self/mountinfo":     `29 23 0:26 / /sys/fs/my\040group rw - cgroup2 cgroup rw` + "\n",
			"sys/fs/my group/cpu.max": "100000 100000\n",
		}, 1},
		{"nonsense", map[string]string{
			"proc/self/cgroup": "0::/\nx\n", "proc/self/mountinfo": "- \n\n" + v2Mount,
			"sys/fs/cgroup/cpu.max": "many\n",
		}, 0},
	} {
		got, ok := cpuQuota(system(c.files))
		if ok != (c.want != 0) || got != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, got, ok, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	const meminfo = "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    9000000 kB\n"
	for _, c := range []struct {
		name             string
		files            map[string]string
		total, available int64
		source           string
	}{
		{"nothing known", nil, 0, 0, ""},
		{"no cgroup", map[string]string{"proc/meminfo": meminfo}, 16000000 << 10, 9000000 << 10, "MemAvailable of /proc/meminfo"},
		{"v2, cached files count as available", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.current": "900000\n",
			"sys/fs/cgroup/a/memory.stat": "anon 400000\nactive_file 300000\ninactive_file 100000\n",
		}, 1000000, 500000, "memory limit of cgroup /sys/fs/cgroup/a"},
		{"v2, more used than allowed", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.current": "1200000\n",
		}, 1000000, 0, "memory limit of cgroup /sys/fs/cgroup/a"},
		{"v2, siblings have used up the group above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/b/memory.current": "100000\n",
			"sys/fs/cgroup/a/memory.max": "3000000\n", "sys/fs/cgroup/a/memory.current": "2900000\n",
		}, 1000000, 100000, "memory limit of cgroup /sys/fs/cgroup/a"},
		{"v2, no limit", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "1200000\n",
		}, 16000000 << 10, 9000000 << 10, "MemAvailable of /proc/meminfo"},
		{"v2, the limit leaves more than the machine has", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/memory.max": "15000000000\n", "sys/fs/cgroup/a/memory.current": "1000\n",
		}, 15000000000, 9000000 << 10, "MemAvailable of /proc/meminfo"},
		{"v1", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/m\n0::/\n", "proc/self/mountinfo": v1Mount,
			"sys/fs/cgroup/memory/m/memory.limit_in_bytes": "2000000\n", "sys/fs/cgroup/memory/m/memory.usage_in_bytes": "500000\n",
			"sys/fs/cgroup/memory/m/memory.stat":         "inactive_file 1\ntotal_inactive_file 100000\ntotal_active_file 0\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
		}, 2000000, 1600000, "memory limit of cgroup /sys/fs/cgroup/memory/m"},
	} {
		total, available, source := memory(system(c.files))
		if total != c.total || available != c.available || source != c.source {
			t.Errorf("%s: %d, %d, %q; want %d, %d, %q", c.name, total, available, source, c.total, c.available, c.source)
		}
	}
}

func TestParseKilobytes(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"VmPeak:\t  10 kB\nVmHWM:\t   36604 kB\n", 36604 << 10, true},
		{"VmHWM:\t36604 MB\n", 0, false},
		{"VmHWM:\t-1 kB\n", 0, false},
		{"VmHWM:\t9223372036854775807 kB\n", 0, false},
		{"VmHWM", 0, false},
		{"", 0, false},
	} {
		if got, ok := parseKilobytes(c.text, "VmHWM"); got != c.want || ok != c.ok {
			t.Errorf("%q: %d, %v; want %d, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}
