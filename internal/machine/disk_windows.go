package machine

import "golang.org/x/sys/windows"

// FreeDisk returns the bytes that this user may still write on the file system of
// a folder; ok is false when the system does not tell.
func FreeDisk(dir string) (bytes int64, ok bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(path, &free, nil, nil) != nil {
		return 0, false
	}
	return clampProduct(free, 1), true
}
