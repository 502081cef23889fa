package dtype

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
)

// bits parses hexadecimal bit patterns.
func bits(t *testing.T, hex []string, width int) []uint32 {
	t.Helper()
	out := make([]uint32, len(hex))
	for i, h := range hex {
		v, err := strconv.ParseUint(h, 16, width)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = uint32(v)
	}
	return out
}

// sameBits reports whether got is the float32 with the bits want; any NaN is
// right for a NaN.
func sameBits(got float32, want uint32) bool {
	w := math.Float32frombits(want)
	if w != w {
		return got != got
	}
	return math.Float32bits(got) == want
}

type floatsFile struct {
	Tables map[string]json.RawMessage `json:"tables"`
	Pairs  map[string]json.RawMessage `json:"pairs"`
}

func readFloats(t *testing.T) floatsFile {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(fixtures.Dir(t, "formats"), "floats.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f floatsFile
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGoldenFloatTables(t *testing.T) {
	tables := readFloats(t).Tables
	if len(tables) == 0 {
		t.Fatal("no tables")
	}
	codes := map[string]struct {
		n    int
		from func(uint8) float32
	}{
		"e4m3fn": {256, FromE4M3},
		"e5m2":   {256, FromE5M2},
		"e8m0":   {256, FromE8M0},
		"e2m1":   {16, FromE2M1},
	}
	for name, raw := range tables {
		t.Run(name, func(t *testing.T) {
			if name == "f16_to_f32" {
				goldenF16(t, raw)
				return
			}
			format, ok := codes[name]
			if !ok {
				t.Fatalf("unknown table %q", name)
			}
			var values []any
			if err := json.Unmarshal(raw, &values); err != nil {
				t.Fatal(err)
			}
			if len(values) != format.n {
				t.Fatalf("%d values, want %d", len(values), format.n)
			}
			for code, v := range values {
				want, err := strconv.ParseFloat(fmt.Sprint(v), 64)
				if f, ok := v.(float64); ok {
					want, err = f, nil
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := format.from(uint8(code)); !sameBits(got, math.Float32bits(float32(want))) {
					t.Errorf("code %#x: got %v, want %v", code, got, want)
				}
			}
		})
	}
}

func goldenF16(t *testing.T, raw json.RawMessage) {
	var table struct {
		F16 []string `json:"f16_bits"`
		F32 []string `json:"f32_bits"`
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	half, single := bits(t, table.F16, 16), bits(t, table.F32, 32)
	if len(half) == 0 || len(half) != len(single) {
		t.Fatalf("%d f16 and %d f32 patterns", len(half), len(single))
	}
	for i, h := range half {
		if got := FromF16(uint16(h)); !sameBits(got, single[i]) {
			t.Errorf("f16 %04x: got %08x, want %08x", h, math.Float32bits(got), single[i])
		}
	}
}

func TestGoldenFloatPairs(t *testing.T) {
	columns := map[string][]uint32{}
	for name, raw := range readFloats(t).Pairs {
		var hex []string
		if err := json.Unmarshal(raw, &hex); err != nil {
			t.Fatal(err)
		}
		columns[name] = bits(t, hex, 32)
	}
	in := columns["f32_bits"]
	if len(in) == 0 {
		t.Fatal("no pairs")
	}
	delete(columns, "f32_bits")
	encoders := map[string]struct {
		to    func(float32) uint32
		from  func(uint32) float32
		exact bool // a NaN has one right code
	}{
		"bf16_bits": {
			to:   func(x float32) uint32 { return uint32(ToBF16(x)) },
			from: func(c uint32) float32 { return FromBF16(uint16(c)) },
		},
		"f16_bits": {
			to:   func(x float32) uint32 { return uint32(ToF16(x)) },
			from: func(c uint32) float32 { return FromF16(uint16(c)) },
		},
		"e5m2_bits": {
			to:   func(x float32) uint32 { return uint32(ToE5M2(x)) },
			from: func(c uint32) float32 { return FromE5M2(uint8(c)) },
		},
		"e4m3fn_saturated_bits": {
			to:    func(x float32) uint32 { return uint32(ToE4M3(x)) },
			exact: true,
		},
	}
	if len(columns) == 0 {
		t.Fatal("no encoded columns")
	}
	for name, want := range columns {
		t.Run(name, func(t *testing.T) {
			enc, ok := encoders[name]
			if !ok {
				t.Fatalf("unknown column %q", name)
			}
			if len(want) != len(in) {
				t.Fatalf("%d codes for %d inputs", len(want), len(in))
			}
			for i, b := range in {
				x := math.Float32frombits(b)
				got := enc.to(x)
				if x != x && !enc.exact {
					if back := enc.from(got); back == back {
						t.Errorf("%08x (NaN): code %x is %v, not NaN", b, got, back)
					}
					continue
				}
				if got != want[i] {
					t.Errorf("%08x (%v): got %x, want %x", b, x, got, want[i])
				}
			}
		})
	}
}
