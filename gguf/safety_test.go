package gguf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// safetyFiles are small files that have ended other programs: by a division by
// zero, a product that wraps, a count that is believed.
var safetyFiles = []struct {
	name string
	file []byte
	bad  string // the bad number
}{
	{"zero dimension", oneTensor("t.weight", 2, []uint64{4, 0}, F32, 0, 64), "dimension 1 is 0,"},
	{"bytes far past the end", oneTensor("t.weight", 2, []uint64{1152, 1<<42 + 1}, F32, 0, 64), "4398046511105"},
	{"a million dimensions", oneTensor("t.weight", 1_000_000, []uint64{4, 4}, F32, 0, 64), "1000000"},
	{"product wraps to zero", oneTensor("t.weight", 2, []uint64{1 << 32, 1 << 32}, F32, 0, 64), "[4294967296 4294967296]"},
	{"offset of 2^63", oneTensor("t.weight", 2, []uint64{4, 4}, F32, 1<<63, 64), "9223372036854775808"},
}

func TestC12GGUFSafety(t *testing.T) {
	for _, tt := range safetyFiles {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "crafted.gguf")
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			var err error
			used := allocated(func() { _, err = Open(path) })
			if err == nil {
				t.Fatal("accepted")
			}
			for _, part := range []string{path, "tensor t.weight:", tt.bad} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
			if limit := uint64(len(tt.file)) + 1<<20; used > limit {
				t.Errorf("%d bytes allocated, the limit is %d", used, limit)
			}
		})
	}
}
