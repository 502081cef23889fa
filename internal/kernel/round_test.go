package kernel

import (
	"math"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

// Every bfloat16 and what lies around it: exact, just above, the tie and its
// neighbours, just below the next.
func TestBF16EqualsDtype(t *testing.T) {
	for high := range uint32(1 << 16) {
		for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			x := math.Float32frombits(high<<16 | low)
			got, want := bf16(x), dtype.RoundBF16(x)
			if x != x { // the payload is nobody's business
				if got == got {
					t.Fatalf("bf16(NaN %#08x) = %#08x", math.Float32bits(x), math.Float32bits(got))
				}
				continue
			}
			if math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("bf16(%#08x) = %#08x, dtype has %#08x", math.Float32bits(x), math.Float32bits(got), math.Float32bits(want))
			}
			if bf16(x) != want {
				t.Fatalf("bf16(%v) = %v, want %v", x, bf16(x), want)
			}
		}
	}
}

func TestBF16Ties(t *testing.T) {
	for _, c := range []struct{ x, want uint32 }{
		{0x3f808000, 0x3f800000}, // between even and odd: down
		{0x3f818000, 0x3f820000}, // between odd and even: up
		{0x3f808001, 0x3f810000},
		{0x3fff8000, 0x40000000}, // into the next power of two
		{0x7f7f8000, 0x7f800000}, // beyond the largest: infinity
		{0xff7f8000, 0xff800000},
		{0x7f800000, 0x7f800000},
		{0x00008000, 0x00000000}, // subnormals round alike
		{0x00018000, 0x00020000},
		{0x80000000, 0x80000000},
	} {
		if got := math.Float32bits(bf16(math.Float32frombits(c.x))); got != c.want {
			t.Errorf("bf16(%#08x) = %#08x, want %#08x", c.x, got, c.want)
		}
	}
}

func TestRounding(t *testing.T) {
	in := []float32{1.00390625, 33.7, 47.3, 70.1, -33.7, 0}
	sameBits(t, "F32", roundedTo(F32, in), in)
	sameBits(t, "BF16", roundedTo(BF16, in), []float32{1, 33.75, 47.25, 70, -33.75, 0})
	for _, x := range in {
		if F32.value(x) != x || BF16.value(x) != bf16(x) {
			t.Errorf("value(%v) = %v, %v", x, F32.value(x), BF16.value(x))
		}
	}
}

func TestFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		x    []float32
		want bool
	}{
		{nil, true},
		{[]float32{0, float32(math.Copysign(0, -1)), -1, math.MaxFloat32, -math.MaxFloat32, 1e-45}, true},
		{[]float32{nan32}, false},
		{[]float32{1, inf}, false},
		{[]float32{-inf, 1}, false},
		{[]float32{inf, -inf}, false},
		{[]float32{0, 0, nan32, 0}, false},
	} {
		if got := Finite(c.x); got != c.want {
			t.Errorf("Finite(%v) = %v", c.x, got)
		}
	}
}
