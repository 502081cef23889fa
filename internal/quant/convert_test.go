package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// odd lengths, of which none but the last is a whole number of blocks.
var oddLengths = []int{1, 2, 3, 5, 7, 15, 17, 31, 33, 255, 257, 704 + 1, 256}

func TestOddLengthsAreRefused(t *testing.T) {
	for f := Invalid + 1; f < end; f++ {
		for _, n := range oddLengths {
			whole := n%f.BlockElements() == 0
			blocks := (n + f.BlockElements() - 1) / f.BlockElements()
			x, b := make([]float32, n), make([]byte, blocks*f.BlockBytes())
			check := func(what string, err error) {
				switch {
				case whole && err != nil:
					t.Errorf("%s %v, %d elements: %v", what, f, n, err)
				case !whole && (err == nil || !strings.Contains(err.Error(), f.String()) || !strings.Contains(err.Error(), fmt.Sprint(n))):
					t.Errorf("%s %v, %d elements: error %v names not both", what, f, n, err)
				}
			}
			check("Decode", Decode(f, x, b))
			if f.HasEncoder() {
				check("Encode", Encode(f, b, x))
			}
		}
	}
}

func TestWrongBytesAreRefused(t *testing.T) {
	for f := Invalid + 1; f < end; f++ {
		n, size := 2*f.BlockElements(), 2*f.BlockBytes()
		for _, bytes := range []int{0, 1, size - 1, size + 1, 2 * size} {
			want := fmt.Sprintf("quant: %v: %d elements are %d bytes, not %d", f, n, size, bytes)
			if err := Decode(f, make([]float32, n), make([]byte, bytes)); err == nil || err.Error() != want {
				t.Errorf("Decode: error %v, want %q", err, want)
			}
			if err := Encode(f, make([]byte, bytes), make([]float32, n)); err == nil || err.Error() != want {
				t.Errorf("Encode: error %v, want %q", err, want)
			}
		}
	}
}

func TestEncodeLimits(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tests := []struct {
		format Format
		n, at  int
		x      float32
		want   string // "" when it must be accepted
	}{
		{Q4_K, 256, 0, 0, "quant: Q4_K has no encoder"},
		{IQ4_XS, 256, 0, 0, "quant: IQ4_XS has no encoder"},
		{Invalid, 32, 0, 0, "quant: unknown format 0"},
		{Q8_0, 64, 40, nan, "quant: Q8_0: element 40 is NaN"},
		{Q4_1, 32, 31, -inf, "quant: Q4_1: element 31 is -Inf"},
		{MXFP4, 32, 0, inf, "quant: MXFP4: element 0 is +Inf"},
		{Q8_0, 64, 33, 127 * 65536, "quant: Q8_0: block 1: scale 65536 is beyond the largest F16"},
		{Q8_0, 64, 33, -127 * 65504, ""},
		{Q4_0, 32, 3, 8 * 65536, "quant: Q4_0: block 0: scale -65536 is beyond the largest F16"},
		{Q5_0, 32, 3, -16 * 65536, "quant: Q5_0: block 0: scale 65536 is beyond the largest F16"},
		{Q4_1, 32, 3, math.MaxFloat32, "quant: Q4_1: block 0: scale"},
		{Q4_1, 32, 3, -65536, "quant: Q4_1: block 0: offset -65536 is beyond"},
		{Q5_1, 32, 3, -70000, "quant: Q5_1: block 0: offset -70000 is beyond"},
		{Q5_1, 32, 3, 31 * 65536, "quant: Q5_1: block 0: scale 65536 is beyond"},
		{MXFP4, 32, 3, math.MaxFloat32, ""},
		{F16, 5, 4, 65520, "quant: F16: element 4: 65520 is beyond the largest F16"},
		{F16, 5, 4, 65519, ""},
		{F16, 5, 4, inf, ""},
		{BF16, 5, 4, inf, ""},
		{F32, 5, 4, -inf, ""},
	}
	for _, tt := range tests {
		x := make([]float32, tt.n)
		x[tt.at] = tt.x
		bytes := 0
		if tt.format.known() {
			bytes = tt.n / tt.format.BlockElements() * tt.format.BlockBytes()
		}
		b := make([]byte, bytes)
		err := Encode(tt.format, b, x)
		switch {
		case tt.want != "":
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v of %v: error %v, want %q", tt.format, tt.x, err, tt.want)
			}
		case err != nil:
			t.Errorf("%v of %v: %v", tt.format, tt.x, err)
		default:
			if y := decode(t, tt.format, b); finite(tt.x) != allFinite(y) {
				t.Errorf("%v of %v comes back as %v", tt.format, tt.x, y)
			}
		}
	}
}

func TestFloatsKeepNaN(t *testing.T) {
	for _, f := range []Format{F32, F16, BF16} {
		b := make([]byte, f.BlockBytes())
		if err := Encode(f, b, []float32{float32(math.NaN())}); err != nil {
			t.Fatal(err)
		}
		if y := decode(t, f, b); y[0] == y[0] {
			t.Errorf("%v: NaN came back as %v", f, y[0])
		}
	}
}

func TestReciprocal(t *testing.T) {
	tests := []struct{ d, want float32 }{
		{0, 0},
		{float32(math.Copysign(0, -1)), 0},
		{0x1p-149, 0}, // 1/d would be infinite
		{-0x1p-130, 0},
		{0x1p-127, 0x1p127},
		{-4, -0.25},
	}
	for _, tt := range tests {
		if got := reciprocal(tt.d); got != tt.want {
			t.Errorf("1/%v: %v, want %v", tt.d, got, tt.want)
		}
	}
}

// TestTinyBlocks: elements so small that the reciprocal of the scale would be
// infinite get the code of 0.
func TestTinyBlocks(t *testing.T) {
	zero := map[Format]byte{Q8_0: 0, Q4_0: 0x88, Q4_1: 0, Q5_0: 0, Q5_1: 0, MXFP4: 0} // of the last byte
	for f, want := range zero {
		x := make([]float32, f.BlockElements())
		for i := range x {
			x[i] = 0x1p-140
		}
		x[3] = -0x1p-141
		b := make([]byte, f.BlockBytes())
		if err := Encode(f, b, x); err != nil {
			t.Fatal(err)
		}
		if got := b[len(b)-1]; got != want {
			t.Errorf("%v: last byte %#x, want %#x", f, got, want)
		}
		for i, y := range decode(t, f, b) {
			if y != 0 {
				t.Errorf("%v: element %d is %v", f, i, y)
			}
		}
	}
}

// TestRounding holds what the encoders do with ties and with equals: codes by
// the position of the elements that lead to them.
func TestRounding(t *testing.T) {
	below := math.Nextafter32(0.5, 0)
	tests := []struct {
		format Format
		source []float32
		want   []int // codes of the first elements
	}{
		{Q8_0, []float32{127, 0.5, -0.5, 2.5, -2.5, below}, []int{127, 1, -1, 3, -3, 0}},
		{Q4_0, []float32{8, -8, 0, -1, 0.5}, []int{0, 15, 8, 9, 8}},                   // the scale is -1, and 8 the first
		{Q4_0, []float32{-8, 8, 0, 1, 0.5, -0.5, below}, []int{0, 15, 8, 9, 9, 8, 9}}, // below + 8.5 rounds to 9
		{Q4_0, []float32{-10.4132661819458, 0.6508285403251648}, []int{0, 8}},         // a product rounded to float32 would lead to 9
		{Q5_0, []float32{-16, 16, 0, 1, 0.5, -0.5, below}, []int{0, 31, 16, 17, 17, 16, 17}},
		{Q4_1, []float32{15, 0, 0.5, 1.5, 1.25, 14.5}, []int{15, 0, 1, 2, 1, 15}},
		{Q5_1, []float32{-1, 30, 0, -0.5, 0.5}, []int{0, 31, 1, 1, 2}},
		{MXFP4, []float32{6, -6, 0.25, -0.25, 2.5, -5, 5}, []int{7, 15, 0, 0, 4, 14, 6}},
	}
	for _, tt := range tests {
		x, b := make([]float32, small), make([]byte, tt.format.BlockBytes())
		copy(x, tt.source)
		if err := Encode(tt.format, b, x); err != nil {
			t.Fatal(err)
		}
		codes := b[len(b)-nibbles:]
		for i, want := range tt.want {
			got := int(codes[i] & 15)
			switch tt.format {
			case Q8_0:
				got = int(int8(b[q8_0Codes+i]))
			case Q5_0:
				got |= int(b[q5_0High]>>i&1) << 4
			case Q5_1:
				got |= int(b[q5_1High]>>i&1) << 4
			}
			if got != want {
				t.Errorf("%v of %v: code %d of element %d, want %d", tt.format, tt.source, got, i, want)
			}
		}
	}
}

// TestMXFP4Exponent holds the scale byte where the rounded logarithm matters.
func TestMXFP4Exponent(t *testing.T) {
	tests := []struct {
		x    float32
		want uint8
	}{
		{0, 0},
		{0x1p-149, 0},
		{0x1p-126, 0},
		{0x1p-125, 0},
		{0x1p-124, 1},
		{1, 125},
		{-6, 127},
		{math.Nextafter32(2, 0), 125},
		{2, 126},
		{math.Nextafter32(1<<10, 0), 135}, // its logarithm is 10 in float32
		{1 << 10, 135},
		{math.MaxFloat32, 253},
	}
	for _, tt := range tests {
		if got := mxfp4Exponent(tt.x); got != tt.want {
			t.Errorf("%v: scale byte %d, want %d", tt.x, got, tt.want)
		}
	}
}

// errorCeilings are for the root mean square error of rounding gaussian elements
// of deviation 1 to a format and back. What was measured stands behind each.
var errorCeilings = map[Format]float64{
	F32:   0,
	F16:   0.000215, // 0.000209
	BF16:  0.00171,  // 0.00166
	Q8_0:  0.00553,  // 0.00537
	Q5_1:  0.0392,   // 0.0381
	Q5_0:  0.0442,   // 0.0429
	Q4_1:  0.0808,   // 0.0785
	Q4_0:  0.0890,   // 0.0864
	MXFP4: 0.119,    // 0.115
}

func TestErrorCeilings(t *testing.T) {
	const n = 1 << 16
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	for f := Invalid + 1; f < end; f++ {
		if !f.HasEncoder() {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			ceiling, ok := errorCeilings[f]
			b := make([]byte, n/f.BlockElements()*f.BlockBytes())
			if err := Encode(f, b, x); err != nil {
				t.Fatal(err)
			}
			var sum float64
			for i, y := range decode(t, f, b) {
				e := float64(y) - float64(x[i])
				sum += e * e
			}
			rms := math.Sqrt(sum / n)
			t.Logf("root mean square error %.3g, ceiling %.3g", rms, ceiling)
			if !ok || rms > ceiling {
				t.Errorf("root mean square error %.3g, ceiling %.3g", rms, ceiling)
			}
		})
	}
}
