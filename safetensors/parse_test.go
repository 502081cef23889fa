package safetensors

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/google/go-cmp/cmp"
)

// badFiles are files that Parse refuses, and what the error says after
// "safetensors: f: ".
var badFiles = []struct {
	name string
	file []byte
	want string
}{
	{"nothing", nil, "0 bytes: too short for the length of a header"},
	{"one byte", []byte{2}, "1 byte: too short for the length of a header"},
	{"no header", build(``, ""), "at byte 8: the header does not begin with {"},
	{"length beyond the file", []byte{3, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, "header of 3 bytes: only 2 follow"},
	{"length beyond the limit", []byte{1, 225, 245, 5, 0, 0, 0, 0, '{', '}'}, "header of 100000001 bytes: the limit is 100000000"},
	{"length of all ones", bytes.Repeat([]byte{255}, 10), "header of 18446744073709551615 bytes: the limit is 100000000"},
	{"list", build(`[]`, ""), "at byte 8: the header does not begin with {"},
	{"space first", build(` {}`, ""), "at byte 8: the header does not begin with {"},
	{"cut", build(`{"a":{"dtype":"U8"`, ""), "tensor a: at byte 26: the JSON ends early"},
	{"comma before the end", build(`{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},}`, "x"), "invalid character '}'"},
	{"text after", build(`{} x`, ""), "at byte 11: text after the JSON object"},
	{"not UTF-8", build("{\"a\xff\":{}}", ""), "at byte 11: invalid UTF-8"},
	{"high surrogate alone", build(`{"\\\ud83dx":{}}`, ""), `at byte 12: unpaired surrogate "\\ud83d"`},
	{"high surrogate twice", build(`{"\ud83d\ud83d":{}}`, ""), `at byte 10: unpaired surrogate "\\ud83d"`},
	{"low surrogate alone", build(`{"\ude00":{}}`, ""), `at byte 10: unpaired surrogate "\\ude00"`},
	{"tensor twice", build(`{"w":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"\u0077":{"dtype":"U8","shape":[],"data_offsets":[1,2]}}`, "xy"), "at byte 60: duplicate key w"},
	{"dtype twice", build(`{"w":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}}`, "x"), "tensor w: at byte 27: duplicate key dtype"},
	{"metadata key twice", build(`{"__metadata__":{"a":"1","a":"1"}}`, ""), "duplicate key a"},
	{"metadata list", build(`{"__metadata__":[]}`, ""), "__metadata__ is a list, not an object"},
	{"metadata null", build(`{"__metadata__":null}`, ""), "__metadata__ is null, not an object"},
	{"metadata number", build(`{"__metadata__":{"a":1}}`, ""), "__metadata__ a is a number, not a string"},
	{"tensor is a truth value", build(`{"a":true}`, ""), "tensor a: at byte 13: the entry is a truth value, not an object"},
	{"name with an escape", build(`{"\u001b[2J":"x"}`, ""), `tensor "\x1b[2J": at byte 21: the entry is a string, not an object`},
	{"no dtype", build(`{"a":{"shape":[],"data_offsets":[0,1]}}`, "x"), "tensor a: at byte 45: no dtype"},
	{"no shape", build(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, "x"), "no shape"},
	{"no offsets", build(`{"a":{"dtype":"U8","shape":[]}}`, "x"), "no data_offsets"},
	{"unknown dtype", build(`{"a":{"dtype":"u8","shape":[],"data_offsets":[0,1]}}`, "x"), "unknown dtype u8"},
	{"dtype is a number", build(`{"a":{"dtype":8,"shape":[],"data_offsets":[0,1]}}`, "x"), "dtype is a number, not a string"},
	{"shape is an object", build(`{"a":{"dtype":"U8","shape":{},"data_offsets":[0,1]}}`, "x"), "shape is an object, not a list of numbers"},
	{"shape of strings", build(`{"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}}`, "x"), "shape holds a string, not a number"},
	{"negative dimension", build(`{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}`, "x"), "shape holds -1, not a whole number"},
	{"exponent", build(`{"a":{"dtype":"U8","shape":[1e0],"data_offsets":[0,1]}}`, "x"), "shape holds 1e0, not a whole number"},
	{"dimension beyond an int", build(`{"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}}`, "x"), "dimension 0 of shape [18446744073709551615] is too large"},
	{"dimension beyond 64 bits", build(`{"a":{"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,1]}}`, "x"), "shape holds 18446744073709551616, not a whole number"},
	{"elements overflow", build(`{"a":{"dtype":"U8","shape":[2147483647,2147483647,2147483647],"data_offsets":[0,1]}}`, "x"), "overflows"},
	{"three offsets", build(`{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1,2]}}`, "x"), "data_offsets has 3 numbers, not 2"},
	{"one offset", build(`{"a":{"dtype":"U8","shape":[],"data_offsets":[0]}}`, "x"), "data_offsets has 1 number, not 2"},
	{"backwards", build(`{"a":{"dtype":"U8","shape":[],"data_offsets":[1,0]}}`, "x"), "tensor a: data_offsets [1, 0] run backwards"},
	{"size", build(`{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,16]}}`, strings.Repeat("x", 16)), "tensor a: data_offsets [0, 16] hold 16 bytes, but shape [2 3] of F32 needs 24"},
	{"half a byte", build(`{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}`, "xx"), "whole byte"},
	{"past the end", build(`{"a.b":{"dtype":"U8","shape":[13],"data_offsets":[0,13]}}`, "x"), "tensor a.b: data_offsets [0, 13]: 12 bytes past end of file"},
	{"overlap", build(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, "xyz"), "tensor b: data_offsets [1, 3] overlap tensor a, which ends at 2"},
	{"hole", build(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, "xyz"), "tensor b: data_offsets [2, 3] leave a hole of 1 byte before it"},
	{"data after", build(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "xyz"), "2 bytes after the last tensor, from data offset 1 on"},
	{"deep", build(`{"a":{"more":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}}`, ""), "nested deeper than 64"},
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range badFiles {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", tt.file)
			if err == nil {
				t.Fatal("accepted")
			}
			text, ok := strings.CutPrefix(err.Error(), "safetensors: f: ")
			if !ok || !strings.Contains(text, tt.want) {
				t.Errorf("error %q, want %q", err, tt.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	file := build(`{"b":{"dtype":"F4","shape":[2,2],"data_offsets":[4,6],"later":[{"x":[null]}]},`+
		`"__metadata__":{"format":"pt"},"none":{"dtype":"F64","shape":[0,9],"data_offsets":[4,4]},`+
		`"a\ud83d\ude00":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},`+
		`"s":{"dtype":"U8","shape":[],"data_offsets":[6,7]}} `, "0123456")
	f, err := Parse("f", file)
	if err != nil {
		t.Fatal(err)
	}
	want := content{
		Tensors: map[string]Tensor{
			"a😀":   {DType: BF16, Shape: []int{2}, Data: []byte("0123")},
			"b":    {DType: F4, Shape: []int{2, 2}, Data: []byte("45")},
			"none": {DType: F64, Shape: []int{0, 9}},
			"s":    {DType: U8, Data: []byte("6")},
		},
		Metadata: map[string]string{"format": "pt"},
	}
	if d := diff(want, contentOf(t, f)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a😀", "b", "none", "s"}, f.Names()); d != "" {
		t.Error(d)
	}
	if at, ok := f.Offset("b"); !ok || string(file[at:at+2]) != "45" {
		t.Errorf("offset of b: %d, %v", at, ok)
	}
	if _, ok := f.Tensor("absent"); ok {
		t.Error("an absent tensor was found")
	}
	if _, ok := f.Offset("absent"); ok {
		t.Error("an absent tensor has an offset")
	}
	if x, _ := f.Tensor("b"); cap(x.Data) != len(x.Data) {
		t.Error("appending to a tensor would reach its neighbour")
	}
}

// TestLongNamesAreCut keeps an error readable when a name is huge.
func TestLongNamesAreCut(t *testing.T) {
	_, err := Parse("f", build(`{"`+strings.Repeat("a", 1<<16)+`":1}`, ""))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

func TestDTypeBits(t *testing.T) {
	if F4.Bits() != 4 || BF16.Bits() != 16 || C64.Bits() != 64 || DType("F7").Bits() != 0 {
		t.Errorf("F4 %d, BF16 %d, C64 %d, F7 %d bits", F4.Bits(), BF16.Bits(), C64.Bits(), DType("F7").Bits())
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := os.WriteFile(path, build(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "hi"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := f.Tensor("a"); !ok || string(x.Data) != "hi" || f.Name() != path {
		t.Errorf("tensor %q, %v of %s", x.Data, ok, f.Name())
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, ok := f.Tensor("a"); ok || len(f.Names()) != 0 {
		t.Error("a closed file still has a tensor")
	}
	for _, bad := range []string{filepath.Dir(path), path + ".absent"} {
		if _, err := Open(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}

type goldenCase struct {
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	Expect string `json:"expect"`
	Kind   string `json:"kind"`
}

func goldenCases(t testing.TB) (dir string, cases []goldenCase) {
	t.Helper()
	dir = fixtures.Dir(t, "formats/bad-safetensors")
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
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(raw) != c.Bytes {
				t.Fatalf("%d bytes on disk, %d in the index", len(raw), c.Bytes)
			}
			f, err := Open(path)
			if err == nil {
				defer f.Close()
			} else if !strings.Contains(err.Error(), c.File) {
				t.Errorf("the error does not name the file: %v", err)
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
				t.Logf("%s: %v", c.Kind, err)
			case "either":
				t.Logf("%s: error %v", c.Kind, err)
			default:
				t.Fatalf("unknown expectation %q", c.Expect)
			}
		})
	}
}

// What git clone leaves in the place of a large file is named as such.
func TestParseLFSPointer(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:4665a5ea423c2713d436b5ee50593a9640e0018c1550b5a0002f74190d6caea8\nsize 12345\n"
	_, err := Parse("model.safetensors", []byte(pointer))
	if err == nil || !strings.Contains(err.Error(), "model.safetensors: is a Git LFS pointer") {
		t.Errorf("got %v", err)
	}
}
