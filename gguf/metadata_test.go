package gguf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// getters give the value of a key through each getter.
var getters = map[string]func(f *File, key string) (any, error){
	"Uint":    func(f *File, key string) (any, error) { return f.Uint(key) },
	"Int":     func(f *File, key string) (any, error) { return f.Int(key) },
	"Float":   func(f *File, key string) (any, error) { return f.Float(key) },
	"Bool":    func(f *File, key string) (any, error) { return f.Bool(key) },
	"String":  func(f *File, key string) (any, error) { return f.String(key) },
	"Ints":    func(f *File, key string) (any, error) { return f.Ints(key) },
	"Floats":  func(f *File, key string) (any, error) { return f.Floats(key) },
	"Bools":   func(f *File, key string) (any, error) { return f.Bools(key) },
	"Strings": func(f *File, key string) (any, error) { return f.Strings(key) },
}

// TestGetters asks every getter for every key: it has the value, or an error
// that names file, key and type.
func TestGetters(t *testing.T) {
	want := map[string]map[string]any{
		"u8":      {"Uint": uint64(255), "Int": int64(255)},
		"i8":      {"Int": int64(-1)},
		"u16":     {"Uint": uint64(65535), "Int": int64(65535)},
		"i16":     {"Int": int64(-2)},
		"u32":     {"Uint": uint64(1 << 31), "Int": int64(1 << 31)},
		"i32":     {"Int": int64(-3)},
		"u64":     {"Uint": uint64(1<<64 - 1)},
		"i64":     {"Int": int64(-1 << 63)},
		"f32":     {"Float": float64(float32(0.1))},
		"f64":     {"Float": 0.1},
		"bool":    {"Bool": true},
		"string":  {"String": "a\nä\xff"},
		"u8s":     {"Ints": []int64{1, 2}},
		"i8s":     {"Ints": []int64{-1, 2}},
		"u16s":    {"Ints": []int64{3}},
		"i16s":    {"Ints": []int64{-3}},
		"u32s":    {"Ints": []int64{4, 5}},
		"i32s":    {"Ints": []int64{-4, 5}},
		"u64s":    {"Ints": []int64{6}},
		"i64s":    {"Ints": []int64{-6}},
		"f32s":    {"Floats": []float64{0.5, -1}},
		"f64s":    {"Floats": []float64{0.1}},
		"bools":   {"Bools": []bool{true, false, true}},
		"strings": {"Strings": []string{"", "ab", "c"}},
		"none":    {"Strings": []string{}},
		"absent":  {},
	}
	f := parse(t, encode(t, everything()))
	for key, values := range want {
		for name, get := range getters {
			got, err := get(f, key)
			if value, ok := values[name]; ok {
				if d := cmp.Diff(value, got); d != "" || err != nil {
					t.Errorf("%s(%s): %v %s", name, key, err, d)
				}
			} else if err == nil || !strings.HasPrefix(err.Error(), "gguf: f: key "+key+": ") {
				t.Errorf("%s(%s) is %v, error %v", name, key, got, err)
			}
		}
	}
}

func TestGetterErrors(t *testing.T) {
	c := everything()
	c.Metadata = append(c.Metadata, KeyValue{"wide", []uint64{1, 1 << 63}}, KeyValue{"two words", uint8(1)})
	f := parse(t, encode(t, c))
	tests := []struct{ getter, key, want string }{
		{"Uint", "absent", "gguf: f: key absent: absent"},
		{"Uint", "string", "gguf: f: key string: is of type string, not a whole number"},
		{"Uint", "i32s", "gguf: f: key i32s: is of type array of i32, not a whole number"},
		{"Uint", "i32", "gguf: f: key i32: is -3, below 0"},
		{"Int", "u64", "gguf: f: key u64: is 18446744073709551615, above 9223372036854775807"},
		{"Ints", "wide", "gguf: f: key wide: element 1 is 9223372036854775808, above 9223372036854775807"},
		{"Ints", "u8", "gguf: f: key u8: is of type u8, not an array of whole numbers"},
		{"Float", "u8", "gguf: f: key u8: is of type u8, not a float"},
		{"Strings", "bools", "gguf: f: key bools: is of type array of bool, not an array of strings"},
		{"Bool", "two words", `gguf: f: key "two words": is of type u8, not a bool`},
	}
	for _, tt := range tests {
		if _, err := getters[tt.getter](f, tt.key); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %q", tt.getter, err, tt.want)
		}
	}
}

func TestValue(t *testing.T) {
	c := everything()
	f := parse(t, encode(t, c))
	for _, kv := range c.Metadata {
		got, ok := f.Value(kv.Key)
		if d := cmp.Diff(kv.Value, got); d != "" || !ok || !f.Has(kv.Key) {
			t.Errorf("%s: %v %s", kv.Key, ok, d)
		}
	}
	if v, ok := f.Value("absent"); ok || v != nil || f.Has("absent") {
		t.Errorf("an absent key is %v", v)
	}
	if arch, err := f.Architecture(); err != nil || arch != "diffusion-gemma" {
		t.Errorf("architecture %q, %v", arch, err)
	}
}
