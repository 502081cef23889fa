package dtype

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestTypeNames(t *testing.T) {
	seen := map[string]bool{}
	for typ := Invalid + 1; typ < end; typ++ {
		name := typ.String()
		if seen[name] || name == "" {
			t.Errorf("type %d: name %q is empty or taken", typ, name)
		}
		seen[name] = true
		if got, err := Parse(name); err != nil || got != typ {
			t.Errorf("Parse(%q) = %v, %v", name, got, err)
		}
		if typ.Bits() == 0 {
			t.Errorf("%v has no width", typ)
		}
	}
	for _, bad := range []string{"", "f32", "F7", "invalid", "F8", "bfloat16"} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, got)
		}
	}
	if Type(200).Bits() != 0 || Type(200).String() != "invalid(200)" {
		t.Errorf("Type(200): %d bits, %q", Type(200).Bits(), Type(200))
	}
}

func TestWidenThenNarrowIsIdentity(t *testing.T) {
	for c := range 1 << 16 {
		h := uint16(c)
		if x := FromBF16(h); x == x {
			if got := ToBF16(x); got != h {
				t.Fatalf("bf16 %04x came back as %04x", h, got)
			}
			if got := RoundBF16(x); math.Float32bits(got) != math.Float32bits(x) {
				t.Fatalf("RoundBF16 moved the bf16 value %v to %v", x, got)
			}
		}
		if x := FromF16(h); x == x {
			if got := ToF16(x); got != h {
				t.Fatalf("f16 %04x came back as %04x", h, got)
			}
		}
	}
	for c := range 1 << 8 {
		b := uint8(c)
		if x := FromE4M3(b); x == x && ToE4M3(x) != b {
			t.Errorf("e4m3 %02x came back as %02x", b, ToE4M3(x))
		}
		if x := FromE5M2(b); x == x && ToE5M2(x) != b {
			t.Errorf("e5m2 %02x came back as %02x", b, ToE5M2(x))
		}
		if got := ToE8M0(FromE8M0(b)); got != b {
			t.Errorf("e8m0 %02x came back as %02x", b, got)
		}
	}
	for b := range uint8(16) {
		if got := ToE2M1(FromE2M1(b)); got != b {
			t.Errorf("e2m1 %x came back as %x", b, got)
		}
	}
}

// TestNarrowingIsNearestEven compares every narrowing with a search over the
// format's whole table in float64.
func TestNarrowingIsNearestEven(t *testing.T) {
	formats := []struct {
		name string
		last int // the largest finite positive code
		from func(int) float32
		to   func(float32) int
	}{
		{"bf16", 0x7f7f, func(c int) float32 { return FromBF16(uint16(c)) }, func(x float32) int { return int(ToBF16(x)) }},
		{"f16", 0x7bff, func(c int) float32 { return FromF16(uint16(c)) }, func(x float32) int { return int(ToF16(x)) }},
		{"e5m2", 0x7b, func(c int) float32 { return FromE5M2(uint8(c)) }, func(x float32) int { return int(ToE5M2(x)) }},
		{"e4m3", 0x7e, func(c int) float32 { return FromE4M3(uint8(c)) }, func(x float32) int { return int(ToE4M3(x)) }},
		{"e2m1", 0x7, func(c int) float32 { return FromE2M1(uint8(c)) }, func(x float32) int { return int(ToE2M1(x)) }},
	}
	for _, f := range formats {
		t.Run(f.name, rapid.MakeCheck(func(t *rapid.T) {
			c := rapid.IntRange(0, f.last-1).Draw(t, "code")
			lo, hi := float64(f.from(c)), float64(f.from(c+1))
			x := float32(lo + (hi-lo)*rapid.Float64Range(0, 1).Draw(t, "fraction"))
			if rapid.Bool().Draw(t, "tie") {
				x = float32((lo + hi) / 2)
			}
			below, above := float64(x)-lo, hi-float64(x)
			want := c
			if above < below || above == below && c%2 == 1 {
				want = c + 1
			}
			if got := f.to(x); got != want {
				t.Fatalf("%v between %v and %v: code %#x, want %#x", x, lo, hi, got, want)
			}
		}))
	}
}

func TestSpecialValues(t *testing.T) {
	nan := func(b uint32) float32 { return math.Float32frombits(b) }
	inf := float32(math.Inf(1))
	tests := []struct {
		name      string
		got, want int
	}{
		{"bf16 of a NaN with a low payload", int(ToBF16(nan(0x7f800001))), 0x7fc0},
		{"bf16 of a negative NaN", int(ToBF16(nan(0xffffffff))), 0xffff},
		{"bf16 overflow", int(ToBF16(math.MaxFloat32)), 0x7f80},
		{"f16 of a NaN with a low payload", int(ToF16(nan(0x7f800001))), 0x7e00},
		{"f16 tie at overflow", int(ToF16(65520)), 0x7c00},
		{"f16 below overflow", int(ToF16(65519)), 0x7bff},
		{"e5m2 tie at overflow", int(ToE5M2(61440)), 0x7c},
		{"e4m3 saturates", int(ToE4M3(-1e30)), 0xfe},
		{"e2m1 saturates", int(ToE2M1(-100)), 0xf},
		{"e2m1 of infinity", int(ToE2M1(inf)), 7},
		{"e2m1 of NaN", int(ToE2M1(nan(0xffc00000))), 0},
		{"e8m0 of zero", int(ToE8M0(0)), 0},
		{"e8m0 of the smallest subnormal", int(ToE8M0(0x1p-149)), 0},
		{"e8m0 tie among subnormals", int(ToE8M0(0x1.8p-127)), 1},
		{"e8m0 below a tie", int(ToE8M0(math.Nextafter32(0x1.8p-127, 0))), 0},
		{"e8m0 tie", int(ToE8M0(3)), 129},
		{"e8m0 below a tie", int(ToE8M0(2.9999)), 128},
		{"e8m0 overflow", int(ToE8M0(0x1.8p127)), 0xff},
		{"e8m0 of a negative", int(ToE8M0(-1)), 0xff},
		{"e8m0 of NaN", int(ToE8M0(nan(0x7fc00000))), 0xff},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, tt.got, tt.want)
		}
	}
	if got := RoundBF16(nan(0x7f800001)); got == got {
		t.Errorf("RoundBF16 of NaN is %v", got)
	}
}
