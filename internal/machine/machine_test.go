package machine_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/frescolm/fresco/internal/machine"
)

func TestFreeDisk(t *testing.T) {
	dir := t.TempDir()
	free, ok := machine.FreeDisk(dir)
	if !ok {
		t.Skip("this system does not tell what is free")
	}
	if free < 0 {
		t.Errorf("FreeDisk = %d", free)
	}
	if _, ok := machine.FreeDisk(filepath.Join(dir, "none")); ok {
		t.Error("a folder that does not exist has free space")
	}
}

func TestThisMachine(t *testing.T) {
	if n := machine.Cores(); n < 1 || n > runtime.NumCPU() {
		t.Errorf("Cores() = %d of %d logical processors", n, runtime.NumCPU())
	}
	total, available, source := machine.Memory()
	if available > total || available < 0 {
		t.Errorf("Memory() = %d, %d: more available than there is", total, available)
	}
	if (available > 0) != (source != "") {
		t.Errorf("Memory() = %d, %d, %q: the source does not fit", total, available, source)
	}
	before, ok := machine.PeakMemory()
	if !ok {
		t.Skip("this system does not tell the peak memory")
	}
	const size = 96 << 20
	block := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		block[i] = 1
	}
	after, _ := machine.PeakMemory()
	runtime.KeepAlive(block)
	if before <= 0 || after < size {
		t.Errorf("PeakMemory() = %d before, %d after touching %d bytes", before, after, size)
	}
}
