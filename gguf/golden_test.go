package gguf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
)

type goldenCase struct {
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	Expect string `json:"expect"`
	Kind   string `json:"kind"`
}

// errorOfKind is what the error says about each kind of defect in the index; a
// file with an invalid entry may fail in one of several ways.
var errorOfKind = map[string]string{
	"truncated":                          "truncated",
	"magic":                              "magic",
	"version (big-endian file)":          "big-endian",
	"version":                            "version",
	"count":                              "count",
	"truncated or invalid":               "tensor",
	"invalid":                            "at byte",
	"tensor out of range":                "past end of file",
	"string length":                      "string length",
	"array length":                       "array length",
	"value type":                         "value type",
	"nested arrays are not used; refuse": "nested array",
	"nested arrays; must not overflow the stack": "nested array",
	"bool":                               "bool",
	"duplicate key":                      "duplicate key",
	"utf-8":                              "UTF-8",
	"alignment":                          "alignment",
	"alignment not a power of two":       "not a power of two",
	"alignment type":                     "alignment type",
	"offset alignment":                   "not a multiple of the alignment",
	"overlap":                            "overlap",
	"duplicate tensor":                   "duplicate tensor",
	"dimension":                          "dimension",
	"size overflow":                      "overflow",
	"dimension count":                    "dimension count",
	"tensor type":                        "tensor type",
	"tensor type (4 was removed)":        "tensor type 4 (Q4_2) was removed",
	"row is not a multiple of the block": "not a multiple of the block",
}

func goldenCases(t testing.TB) (dir string, cases []goldenCase) {
	t.Helper()
	dir = fixtures.Dir(t, "formats/bad-gguf")
	raw, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return dir, cases
}

func TestGoldenBadFiles(t *testing.T) {
	dir, cases := goldenCases(t)
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			path := filepath.Join(dir, c.File)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() != int64(c.Bytes) {
				t.Fatalf("%d bytes on disk, %d in the index", info.Size(), c.Bytes)
			}
			var f *File
			used := allocated(func() { f, err = Open(path) })
			if err == nil {
				defer f.Close()
			} else if !strings.Contains(err.Error(), c.File) {
				t.Errorf("the error does not name the file: %v", err)
			}
			if limit := uint64(c.Bytes) + 1<<20; used > limit {
				t.Errorf("%d bytes allocated, the limit is %d", used, limit)
			}
			switch c.Expect {
			case "ok":
				if err != nil {
					t.Error(err)
				}
			case "error":
				if err == nil {
					t.Fatalf("accepted, but has the defect %q", c.Kind)
				}
				want, ok := errorOfKind[c.Kind]
				if !ok {
					t.Fatalf("unknown kind %q", c.Kind)
				}
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
				t.Logf("%s: %v", c.Kind, err)
			case "either":
				t.Logf("%s: error %v", c.Kind, err)
			default:
				t.Fatalf("unknown expectation %q", c.Expect)
			}
		})
	}
}

// TestGoldenRewrite writes the files of other writers again. What they hold
// stays; the bytes stay where the file has the layout that Write gives it.
func TestGoldenRewrite(t *testing.T) {
	dir, cases := goldenCases(t)
	rewritten := 0
	for _, c := range cases {
		if c.Expect != "ok" {
			continue
		}
		rewritten++
		t.Run(c.File, func(t *testing.T) { checkRewrite(t, filepath.Join(dir, c.File), false) })
	}
	if rewritten == 0 {
		t.Error("no cases")
	}
}

// TestGoldenModelFiles rewrites whole models byte for byte, and reads what a
// loader needs of them.
func TestGoldenModelFiles(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(fixtures.Dir(t, "formats/gguf"), "*.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			checkRewrite(t, path, true)
			checkModel(t, path)
		})
	}
}

func checkRewrite(t *testing.T, path string, sameBytes bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := contentOf(parse(t, raw))
	written := encode(t, want)
	if d := diff(want, contentOf(parse(t, written))); d != "" {
		t.Error(d)
	}
	if same := string(written) == string(raw); sameBytes && !same {
		t.Errorf("%d bytes, written again as %d others", len(raw), len(written))
	} else {
		t.Logf("the same bytes: %v", same)
	}
}

func checkModel(t *testing.T, path string) {
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	arch, err := f.Architecture()
	if err != nil || arch != "diffusion-gemma" {
		t.Fatalf("architecture %q, %v", arch, err)
	}
	key := func(name string) string { return arch + "." + name }
	layers, err := f.Uint(key("block_count"))
	if err != nil || layers == 0 {
		t.Fatalf("block count %d, %v", layers, err)
	}
	heads, err := f.Ints(key("attention.head_count_kv"))
	if err != nil || len(heads) != int(layers) || heads[0] <= 0 {
		t.Errorf("heads %d, %v", heads, err)
	}
	sliding, err := f.Bools(key("attention.sliding_window_pattern"))
	if err != nil || len(sliding) != int(layers) || !sliding[0] {
		t.Errorf("sliding %v, %v", sliding, err)
	}
	causal, err := f.Bool(key("attention.causal"))
	if err != nil || causal {
		t.Errorf("causal %v, %v", causal, err)
	}
	softcap, err := f.Float(key("final_logit_softcapping"))
	if err != nil || softcap != 30 {
		t.Errorf("soft cap %v, %v", softcap, err)
	}
	canvas, err := f.Int("diffusion.canvas_length")
	if err != nil || canvas <= 0 {
		t.Errorf("canvas %d, %v", canvas, err)
	}
	tokens, err := f.Strings("tokenizer.ggml.tokens")
	if err != nil {
		t.Fatal(err)
	}
	table, ok := f.Tensor("token_embd.weight")
	if !ok || len(table.Dims) != 2 || table.Dims[1] != len(tokens) {
		t.Errorf("table %v %d for %d tokens", table.Type, table.Dims, len(tokens))
	}
}
