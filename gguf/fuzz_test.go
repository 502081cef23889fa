package gguf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse demands that no bytes make Parse or a getter panic, and that what it
// accepts is the same after it is written and parsed again.
func FuzzParse(f *testing.F) {
	f.Add(encode(f, everything()))
	for _, bad := range badFiles {
		f.Add(bad.file)
	}
	for _, bad := range safetyFiles {
		f.Add(bad.file)
	}
	dir, cases := goldenCases(f)
	for _, c := range cases {
		raw, err := os.ReadFile(filepath.Join(dir, c.File))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse("f", raw)
		if err != nil {
			return
		}
		want := contentOf(file)
		for _, key := range file.Keys() {
			for name, get := range getters {
				if _, err := get(file, key); err != nil && err.Error() == "" {
					t.Errorf("%s(%q): an error without a text", name, key)
				}
			}
		}
		written := encode(t, want)
		again := parse(t, written)
		if d := diff(want, contentOf(again)); d != "" {
			t.Error(d)
		}
		if !bytes.Equal(written, encode(t, contentOf(again))) {
			t.Error("written again with other bytes")
		}
	})
}
