//go:build linux || darwin

package machine

import "golang.org/x/sys/unix"

// FreeDisk returns the bytes that this user may still write on the file system of
// a folder; ok is false when the system does not tell.
func FreeDisk(dir string) (bytes int64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Bsize <= 0 {
		return 0, false
	}
	blocks, size := uint64(s.Bavail), uint64(s.Bsize)
	return clampProduct(blocks, size), true
}
