package quant

import (
	"math"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for f := Invalid + 1; f < end; f++ {
		if got, err := Parse(f.String()); err != nil || got != f {
			t.Errorf("Parse(%q) = %v, %v", f, got, err)
		}
		if got, err := ByID(f.ID()); err != nil || got != f {
			t.Errorf("ByID(%d) = %v, %v, want %v", f.ID(), got, err, f)
		}
		if f.BlockElements() < 1 || f.BlockBytes() < 1 {
			t.Errorf("%v: blocks of %d elements, %d bytes", f, f.BlockElements(), f.BlockBytes())
		}
	}
	for _, bad := range []string{"", "q4_0", "Q4_2", "Q8_K", "invalid", "Q4_K_M"} {
		if got, err := Parse(bad); err == nil || !strings.Contains(err.Error(), `"`+bad+`"`) {
			t.Errorf("Parse(%q) = %v, %v", bad, got, err)
		}
	}
	for _, bad := range []uint32{4, 5, 9, 15, 250, math.MaxUint32} {
		if got, err := ByID(bad); err == nil {
			t.Errorf("ByID(%d) = %v", bad, got)
		}
	}
	for _, f := range []Format{Invalid, end, 255} {
		if !strings.HasPrefix(f.String(), "invalid(") || f.BlockElements() != 0 || f.BlockBytes() != 0 || f.ID() != 0 || f.HasEncoder() {
			t.Errorf("format %d: %v, %d elements, %d bytes", uint8(f), f, f.BlockElements(), f.BlockBytes())
		}
	}
}

func TestRowBytes(t *testing.T) {
	tests := []struct {
		format Format
		n      int
		want   int
		err    string
	}{
		{F32, 7, 28, ""},
		{BF16, 0, 0, ""},
		{Q4_0, 704, 396, ""},
		{Q8_0, 2816, 2992, ""},
		{Q4_K, 2816, 1584, ""},
		{Q4_K, 704, 0, "quant: Q4_K: 704 elements are not whole blocks of 256"},
		{IQ4_NL, 33, 0, "quant: IQ4_NL: 33 elements are not whole blocks of 32"},
		{Q8_0, -32, 0, "quant: Q8_0: -32 elements"},
		{F32, math.MaxInt/4 + 1, 0, "are too many bytes"},
		{Q8_0, math.MaxInt &^ 31, 0, "are too many bytes"},
		{Invalid, 32, 0, "quant: unknown format 0"},
		{200, 32, 0, "quant: unknown format 200"},
	}
	for _, tt := range tests {
		got, err := tt.format.RowBytes(tt.n)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v, %d elements: %d, %v; want %d, %q", tt.format, tt.n, got, err, tt.want, tt.err)
		}
	}
}

func TestTensorElements(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  int
	}{{nil, 1}, {[]int{2, 3}, 6}, {[]int{5, 0}, 0}} {
		if got := (Tensor{Format: F16, Shape: c.shape}).Elements(); got != c.want {
			t.Errorf("%v: %d elements, want %d", c.shape, got, c.want)
		}
	}
}
