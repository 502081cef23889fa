package safetensors

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// seedFiles adds the malformed files of the tests here and, where they are,
// those of the fixtures.
func seedFiles(f *testing.F) {
	for _, bad := range badFiles {
		f.Add(bad.file)
	}
	root := filepath.Join("..", "..", "shared", "fixtures")
	if env := os.Getenv("FRESCO_FIXTURES"); env != "" {
		root = env
	}
	paths, err := filepath.Glob(filepath.Join(root, "formats", "bad-safetensors", "*.safetensors"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
}

// FuzzParse demands that no bytes make Parse panic, and that what it accepts is
// the same after it is written and parsed again.
func FuzzParse(f *testing.F) {
	seedFiles(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse("f", raw)
		if err != nil {
			return
		}
		want := contentOf(t, file)
		var b bytes.Buffer
		if err := Write(&b, want.Tensors, want.Metadata); err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(want, contentOf(t, again)); d != "" {
			t.Error(d)
		}
	})
}

// FuzzIndex demands that no bytes make parseIndex panic, and that every shard
// it accepts stays in the folder.
func FuzzIndex(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"total_size":1},"weight_map":{"a":"s1","b":"s2"}}`,
		`{"weight_map":{"a":"../s1"}}`,
		`{"weight_map":{"a":1}}`,
		`{"weight_map":{"\ud800":"s"}}`,
		`{"x":[[[[{"y":null}]]]],"weight_map":{}}`,
		`{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		placements, err := parseIndex(raw)
		if err != nil {
			return
		}
		if len(placements) == 0 {
			t.Error("no placements and no error")
		}
		for _, p := range placements {
			if filepath.Base(p.shard) != p.shard || !filepath.IsLocal(p.shard) {
				t.Errorf("shard %q leaves the folder", p.shard)
			}
		}
	})
}
