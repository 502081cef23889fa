package mmap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	page := os.Getpagesize()
	for _, size := range []int{0, 1, page - 1, page, page + 1, 3*page + 7} {
		want := bytes.Repeat([]byte("canvas"), size/6+1)[:size]
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if !bytes.Equal(m.Bytes(), want) {
			t.Errorf("%d bytes: content differs", size)
		}
		for range 2 {
			if err := m.Close(); err != nil {
				t.Errorf("%d bytes: close: %v", size, err)
			}
		}
		if m.Bytes() != nil {
			t.Errorf("%d bytes: content after Close", size)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "absent"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("absent file: %v", err)
	}
	if _, err = Open(dir); err == nil || !strings.Contains(err.Error(), dir+": is a directory") {
		t.Errorf("folder: %v", err)
	}
	if _, err = Open(os.DevNull); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("device: %v", err)
	}
}
