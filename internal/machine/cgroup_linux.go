package machine

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A cgroup is a folder of the cgroup file system, in version 1 or 2.
type cgroup struct {
	dir string // without the leading slash
	v2  bool
}

// cgroups returns the cgroups of this process that can limit the given
// controller: its own and the visible ones above it, in both versions of the
// cgroup file system. A system without cgroups has none.
func cgroups(root fs.FS, controller string) []cgroup {
	memberships, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var all []cgroup
	for _, mount := range parseMounts(string(mounts), controller) {
		own, ok := parseMembership(string(memberships), controller, mount.v2)
		if !ok {
			continue
		}
		// A container may see its own cgroup as the top of the mount, and its
		// path as the host names it.
		below, ok := strings.CutPrefix(own, strings.TrimSuffix(mount.root, "/"))
		if !ok || below != "" && below[0] != '/' {
			below = ""
		}
		top := strings.Trim(mount.point, "/")
		for dir := strings.Trim(path.Join(mount.point, below), "/"); ; dir = path.Dir(dir) {
			all = append(all, cgroup{dir, mount.v2})
			if dir == top || !strings.HasPrefix(dir, top+"/") {
				break
			}
		}
	}
	return all
}

type cgroupMount struct {
	root, point string
	v2          bool
}

// parseMounts finds in a mountinfo (proc_pid_mountinfo(5)) the cgroup file
// systems that can hold the controller.
func parseMounts(mountinfo, controller string) []cgroupMount {
	var mounts []cgroupMount
	for line := range strings.Lines(mountinfo) {
		mount, filesystem, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(mount), strings.Fields(filesystem)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		m := cgroupMount{root: unescape.Replace(left[3]), point: unescape.Replace(left[4])}
		switch right[0] {
		case "cgroup2":
			m.v2 = true
		case "cgroup":
			if !slices.Contains(strings.Split(right[2], ","), controller) {
				continue
			}
		default:
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape undoes the octal escapes of mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// parseMembership finds in a /proc/PID/cgroup (cgroups(7)) the path of the
// cgroup for the controller.
func parseMembership(memberships, controller string, v2 bool) (string, bool) {
	for line := range strings.Lines(memberships) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		if v2 && fields[0] == "0" && fields[1] == "" {
			return fields[2], true
		}
		if !v2 && slices.Contains(strings.Split(fields[1], ","), controller) {
			return fields[2], true
		}
	}
	return "", false
}
