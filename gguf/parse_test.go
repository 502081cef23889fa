package gguf

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// badFiles are files that Parse refuses, and what the error says after
// "gguf: f: ".
var badFiles = []struct {
	name string
	file []byte
	want string
}{
	{"nothing", nil, "at byte 0: truncated: the header needs 24 bytes, 0 are left"},
	{"other file", []byte("PK\x03\x04"), `at byte 0: magic is "PK\x03\x04", not "GGUF"`},
	{"pointer", []byte("version https://git-lfs.github.com/spec/v1\n"), "is a Git LFS pointer"},
	{"big-endian version 2", append([]byte("GGUF\x00\x00\x00\x02"), make([]byte, 16)...), "at byte 4: version 2 with its bytes reversed: big-endian"},
	{"version 4", append([]byte("GGUF\x04\x00\x00\x00"), make([]byte, 16)...), "at byte 4: version 4 is not 2 or 3"},
	{"tensors", header(1, 0), "at byte 8: count of tensors is 1, but only 0 bytes follow"},
	{"keys", header(0, 1<<63), "at byte 16: count of metadata keys is 9223372036854775808, but only 0 bytes follow"},
	{"empty key", oneKey("", make([]byte, 9)...), "metadata key 0: at byte 24: the name is empty"},
	{"key not UTF-8", oneKey("\xff", make([]byte, 9)...), `metadata key 0: at byte 24: name "\xff" is not valid UTF-8`},
	{"key too long", oneKey(strings.Repeat("k", 1<<16), 0, 0, 0, 0, 1), "metadata key 0: at byte 24: string length 65536 of a name: the limit is 65535"},
	{"key cut", oneKey("general", 4, 0, 0, 0, 1), "key general: at byte 43: truncated: the value needs 4 bytes, 1 are left"},
	{"value type", oneKey("k", 13, 0, 0, 0, 1), "key k: at byte 33: unknown value type 13"},
	{"bool", oneKey("k", 7, 0, 0, 0, 2), "key k: at byte 37: bool is 2, not 0 or 1"},
	{"bool in an array", oneKey("k", 9, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 255), "key k: at byte 50: bool is 255, not 0 or 1"},
	{"string beyond", oneKey("k", 8, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 'x', 'y'), "key k: at byte 37: string length 3 of the value: only 2 bytes follow"},
	{"array beyond", oneKey("k", 9, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), "key k: at byte 41: array length 2 of u32: only 7 bytes follow"},
	{"array that wraps", oneKey("k", 9, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0, 0), "key k: at byte 41: array length 4611686018427387905 of u32: only 4 bytes follow"},
	{"array of strings cut", oneKey("k", 9, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0), "key k: element 0: at byte 49: string length 9 of a string: only 0 bytes follow"},
	{"array of arrays", oneKey("k", 9, 0, 0, 0, 9, 0, 0, 0, 0), "key k: at byte 37: nested arrays are not supported"},
	{"key twice", append(putText(append(putText(header(0, 2), "k"), 0, 0, 0, 0, 1), "k"), 0, 0, 0, 0, 1), "at byte 38: duplicate key k"},
	{"alignment of another width", oneKey(alignmentKey, 10, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0), "key general.alignment: alignment type uint64 is not uint32"},
	{"alignment of 48", oneKey(alignmentKey, 4, 0, 0, 0, 48, 0, 0, 0), "key general.alignment: alignment 48 is not a power of two"},
	{"alignment of 4096", oneKey(alignmentKey, 4, 0, 0, 0, 0, 16, 0, 0), "key general.alignment: alignment 4096 is larger than the file, which has 57 bytes"},
	{"empty name", oneTensor("", 1, []uint64{1}, F32, 0, 4), "tensor 0: at byte 24: the name is empty"},
	{"name with an escape", oneTensor("\x1b[2J", 0, []uint64{1}, F32, 0, 4), `tensor "\x1b[2J": at byte 36: dimension count 0 is not 1 to 4`},
	{"five dimensions", oneTensor("w", 5, []uint64{1, 1, 1, 1, 1}, F32, 0, 4), "tensor w: at byte 33: dimension count 5 is not 1 to 4"},
	{"negative dimension", oneTensor("w", 1, []uint64{1<<64 - 1}, F32, 0, 4), "tensor w: at byte 33: dimension 0 is 18446744073709551615"},
	{"removed type", oneTensor("w", 1, []uint64{32}, 33, 0, 99), "tensor w: at byte 33: tensor type 33 (Q4_0_8_8) was removed from the format"},
	{"unknown type", oneTensor("w", 1, []uint64{32}, 43, 0, 99), "tensor w: at byte 33: unknown tensor type 43"},
	{"half a block", oneTensor("w", 1, []uint64{48}, Q4_0, 0, 99), "tensor w: at byte 33: row of 48 elements is not a multiple of the block of Q4_0, 32"},
	{"blocks over rows", oneTensor("w", 2, []uint64{16, 2}, Q4_0, 0, 99), "row of 16 elements is not a multiple"},
	{"past the end", oneTensor("a.b", 1, []uint64{4}, F32, 0, 15), "tensor a.b: F32 [4] at offset 0 has 16 bytes, past end of file: the data has 15"},
	{"offset that wraps", oneTensor("w", 1, []uint64{4}, F32, 1<<64-16, 32), "tensor w: F32 [4] at offset 18446744073709551600 has 16 bytes, past end of file: the data has 32"},
	{"no data", oneTensor("w", 1, []uint64{4}, F32, 0, 0)[:24+33], "past end of file: the data has 0"},
	{"not aligned", oneTensor("w", 1, []uint64{4}, F32, 16, 32), "tensor w: offset 16 is not a multiple of the alignment 32"},
	{"overlap", append(appendInfo(appendInfo(header(2, 0), "b", 1, []uint64{4}, F32, 32), "a", 1, []uint64{9}, F32, 0), make([]byte, 100)...), "tensor b: offset 32 overlaps tensor a, which ends at 36"},
	{"tensor twice", append(appendInfo(appendInfo(header(2, 0), "a", 1, []uint64{4}, F32, 32), "a", 1, []uint64{4}, F32, 0), make([]byte, 100)...), "at byte 57: duplicate tensor a"},
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range badFiles {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", tt.file)
			if err == nil {
				t.Fatal("accepted")
			}
			text, ok := strings.CutPrefix(err.Error(), "gguf: f: ")
			if !ok || !strings.Contains(text, tt.want) {
				t.Errorf("error %q, want %q", err, tt.want)
			}
		})
	}
}

// everything is a file with a value of every kind, three tensors and alignment
// 64.
func everything() content {
	return content{
		Metadata: []KeyValue{
			{"general.architecture", "diffusion-gemma"},
			{alignmentKey, uint32(64)},
			{"u8", uint8(255)}, {"i8", int8(-1)}, {"u16", uint16(65535)}, {"i16", int16(-2)},
			{"u32", uint32(1 << 31)}, {"i32", int32(-3)}, {"u64", uint64(1<<64 - 1)}, {"i64", int64(-1 << 63)},
			{"f32", float32(0.1)}, {"f64", 0.1}, {"bool", true}, {"string", "a\nä\xff"},
			{"u8s", []uint8{1, 2}}, {"i8s", []int8{-1, 2}}, {"u16s", []uint16{3}}, {"i16s", []int16{-3}},
			{"u32s", []uint32{4, 5}}, {"i32s", []int32{-4, 5}}, {"u64s", []uint64{6}}, {"i64s", []int64{-6}},
			{"f32s", []float32{0.5, -1}}, {"f64s", []float64{0.1}}, {"bools", []bool{true, false, true}},
			{"strings", []string{"", "ab", "c"}}, {"none", []string{}},
		},
		Tensors: []Tensor{
			{Name: "z", Type: F32, Dims: []int{3}, Data: []byte("zzzzyyyyxxxx")},
			{Name: "a", Type: Q4_0, Dims: []int{32, 2}, Data: bytes.Repeat([]byte("ab"), 18)},
			{Name: "é", Type: BF16, Dims: []int{1, 1, 1, 2}, Data: []byte("0123")},
		},
	}
}

func TestParse(t *testing.T) {
	want := everything()
	raw := encode(t, want)
	f := parse(t, raw)
	if d := diff(want, contentOf(f)); d != "" {
		t.Error(d)
	}
	if f.Name() != "f" || f.Version() != 3 || f.Alignment() != 64 {
		t.Errorf("name %s, version %d, alignment %d", f.Name(), f.Version(), f.Alignment())
	}
	keys := f.Keys()
	if len(keys) != len(want.Metadata) || keys[1] != alignmentKey {
		t.Errorf("keys %q", keys)
	}
	for _, x := range want.Tensors {
		got, ok := f.Tensor(x.Name)
		if d := diff(content{Tensors: []Tensor{x}}, content{Tensors: []Tensor{got}}); d != "" || !ok {
			t.Errorf("%s: %v %s", x.Name, ok, d)
		}
		at, ok := f.Offset(x.Name)
		if !ok || at%64 != 0 || !bytes.HasPrefix(raw[at:], x.Data) {
			t.Errorf("%s: offset %d, %v", x.Name, at, ok)
		}
		if cap(got.Data) != len(got.Data) {
			t.Errorf("%s: appending would reach its neighbour", x.Name)
		}
	}
	if _, ok := f.Tensor("absent"); ok {
		t.Error("an absent tensor was found")
	}
	if _, ok := f.Offset("absent"); ok {
		t.Error("an absent tensor has an offset")
	}
}

// TestCutAndFlipped cuts a file everywhere and flips its bits: no panic, and
// what is cut within the header or the data is an error.
func TestCutAndFlipped(t *testing.T) {
	c := everything()
	raw := encode(t, c)
	f := parse(t, raw)
	last, _ := f.Offset("é")
	for n := range int(last) + len("0123") {
		if _, err := Parse("f", raw[:n]); err == nil {
			t.Errorf("accepted when cut to %d of %d bytes", n, len(raw))
		}
	}
	accepted := 0
	for i := range raw {
		for bit := range 8 {
			flipped := slices.Clone(raw)
			flipped[i] ^= 1 << bit
			if f, err := Parse("f", flipped); err == nil {
				accepted++
				contentOf(f)
			} else if !strings.HasPrefix(err.Error(), "gguf: f: ") {
				t.Errorf("bit %d of byte %d: %v", bit, i, err)
			}
		}
	}
	if accepted == 0 {
		t.Error("not even changed tensor data is accepted")
	}
}

// TestLongNamesAreCut keeps an error readable when a name is huge.
func TestLongNamesAreCut(t *testing.T) {
	_, err := Parse("f", oneKey(strings.Repeat("a", maxName), 99, 0, 0, 0, 0))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

// TestCountsReserveNothing gives counts that the size of the file allows, in a
// file of zeros.
func TestCountsReserveNothing(t *testing.T) {
	const size = 8 << 20
	for _, head := range [][]byte{header(size/minInfo, 0), header(0, size/minEntry)} {
		file := append(head, make([]byte, size)...)
		var err error
		if n := allocated(func() { _, err = Parse("f", file) }); n > 1<<20 || err == nil {
			t.Errorf("%d bytes allocated, error %v", n, err)
		}
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.gguf")
	if err := os.WriteFile(path, encode(t, everything()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := f.Tensor("é"); !ok || string(x.Data) != "0123" || f.Name() != path {
		t.Errorf("tensor %q, %v of %s", x.Data, ok, f.Name())
	}
	names, err := f.Strings("strings")
	if err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff([]string{"", "ab", "c"}, names); d != "" {
		t.Errorf("strings after Close: %s", d)
	}
	if _, ok := f.Tensor("é"); ok || len(f.Tensors()) != 0 || len(f.Keys()) != 0 || f.Has("u8") {
		t.Error("a closed file still has a tensor or a key")
	}
	for _, bad := range []string{filepath.Dir(path), path + ".absent"} {
		if _, err := Open(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}
