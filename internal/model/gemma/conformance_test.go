package gemma

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/conformance"
)

// TestConformance runs the seam's suite on every small checkpoint of the
// fixtures, in every arithmetic and kernel class, and asks the same bits of 1, 2
// and 7 threads.
func TestConformance(t *testing.T) {
	g := openGolden(t)
	dir := filepath.Join(g.dir, g.checkpoints)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		folder := filepath.Join(dir, entry.Name())
		if info, err := os.Stat(filepath.Join(folder, "model.safetensors")); err == nil && info.Size() > 3<<20 && !fixtures.Full() {
			t.Logf("%s: only with FRESCO_TEST=full", entry.Name())
			continue
		}
		for _, class := range kernel.Classes() {
			if !class.Available {
				t.Logf("kernel class %s: %s", class.Name, class.Reason)
				continue
			}
			for _, arithmetic := range []string{"exact", "bf16"} {
				t.Run(fmt.Sprintf("%s/%s/%s", entry.Name(), class.Name, arithmetic), func(t *testing.T) {
					open := func(t *testing.T, threads int) model.Backend {
						return openBackend(t, folder, model.LoadOptions{KernelClass: class.Name, Arithmetic: arithmetic, Threads: threads})
					}
					conformance.Run(t, func(t *testing.T) model.Backend { return open(t, 2) })
					conformance.Same(t, open(t, 1), open(t, 2), open(t, 7))
				})
			}
		}
	}
}
