//go:build !linux && !darwin && !windows

package mmap

import (
	"io"
	"os"
)

func mapBytes(f *os.File, size int) ([]byte, func() error, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, err
	}
	return data, nil, nil
}
