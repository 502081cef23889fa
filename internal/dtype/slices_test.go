package dtype

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// patterns returns n bit patterns that run through all exponents and signs.
func patterns(n int) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		p[i] = uint32(i) * 2654435761
	}
	return p
}

// TestDecodeEqualsScalar covers every length up to 40 at odd addresses, so that
// the four-element body and each tail are met.
func TestDecodeEqualsScalar(t *testing.T) {
	for n := range 41 {
		p := patterns(n)
		for _, typ := range []Type{F32, BF16, F16} {
			size := typ.Bits() / 8
			raw := make([]byte, 1+n*size)
			src, want := raw[1:], make([]float32, n)
			for i, b := range p {
				switch typ {
				case F32:
					binary.LittleEndian.PutUint32(src[4*i:], b)
					want[i] = math.Float32frombits(b)
				case BF16:
					binary.LittleEndian.PutUint16(src[2*i:], uint16(b>>16))
					want[i] = FromBF16(uint16(b >> 16))
				case F16:
					binary.LittleEndian.PutUint16(src[2*i:], uint16(b>>16))
					want[i] = FromF16(uint16(b >> 16))
				}
			}
			got := make([]float32, n)
			if err := Decode(typ, got, src); err != nil {
				t.Fatal(err)
			}
			equalBits(t, typ.String(), got, want)
		}
	}
}

func TestBF16Slices(t *testing.T) {
	for n := range 41 {
		p := patterns(n)
		x, want := make([]float32, n), make([]float32, n)
		for i, b := range p {
			x[i] = math.Float32frombits(b)
			want[i] = RoundBF16(x[i])
		}
		codes, back := make([]uint16, n), make([]float32, n)
		EncodeBF16(codes, x)
		DecodeBF16(back, codes)
		RoundBF16Slice(x)
		equalBits(t, "encode, decode", back, want)
		equalBits(t, "round", x, want)
	}
}

func equalBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s, %d elements: [%d] is %08x, want %08x", what, len(want), i,
				math.Float32bits(got[i]), math.Float32bits(want[i]))
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		typ   Type
		n     int
		bytes int
		want  string
	}{
		{F32, 2, 7, "2 elements of F32 are 8 bytes, not 7"},
		{BF16, 2, 8, "2 elements of BF16 are 4 bytes, not 8"},
		{F16, 1, 0, "1 elements of F16 are 2 bytes, not 0"},
		{I32, 1, 4, "no conversion from I32"},
		{Invalid, 0, 0, "no conversion from invalid"},
	}
	for _, tt := range tests {
		err := Decode(tt.typ, make([]float32, tt.n), make([]byte, tt.bytes))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: error %v, want %q", tt.typ, err, tt.want)
		}
	}
}

func BenchmarkSlices(b *testing.B) {
	const n = 2816
	x, codes, raw := make([]float32, n), make([]uint16, n), make([]byte, 4*n)
	for i := range x {
		x[i] = float32(i%257) * 0.37
		codes[i] = ToBF16(x[i])
		binary.LittleEndian.PutUint16(raw[2*i:], ToF16(x[i]))
	}
	decode := func(t Type) func() {
		src := raw[:n*t.Bits()/8]
		return func() {
			if err := Decode(t, x, src); err != nil {
				b.Fatal(err)
			}
		}
	}
	runs := []struct {
		name  string
		bytes int64 // read and written
		f     func()
	}{
		{"copy", 8 * n, func() { copy(x, x[n/2:]); copy(x[n/2:], x) }},
		{"Decode/F32", 8 * n, decode(F32)},
		{"Decode/BF16", 6 * n, decode(BF16)},
		{"Decode/F16", 6 * n, decode(F16)},
		{"DecodeBF16", 6 * n, func() { DecodeBF16(x, codes) }},
		{"EncodeBF16", 6 * n, func() { EncodeBF16(codes, x) }},
		{"RoundBF16Slice", 8 * n, func() { RoundBF16Slice(x) }},
	}
	for _, r := range runs {
		b.Run(r.name, func(b *testing.B) {
			b.SetBytes(r.bytes)
			for b.Loop() {
				r.f()
			}
		})
	}
}
