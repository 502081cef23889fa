package convert

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A file system that is too small is refused before anything is written to it.
func TestSmallFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	_, err := Quantize(t.Context(), "sudoku", filepath.Join(dir, "out.gguf"), Options{Type: "q4_0"})
	var space *SpaceError
	if !errors.As(err, &space) || space.Free > 64<<10 || space.Needs < 500_000 {
		t.Errorf("error %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v left behind, %v", entries, err)
	}
}
