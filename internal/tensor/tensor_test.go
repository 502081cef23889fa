package tensor

import (
	"math"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

func TestBytes(t *testing.T) {
	tests := []struct {
		typ   dtype.Type
		shape []int
		want  int
		err   string
	}{
		{dtype.F32, nil, 4, ""},
		{dtype.BF16, []int{2, 3}, 12, ""},
		{dtype.U8, []int{5, 0, 7}, 0, ""},
		{dtype.F4, []int{3, 2}, 3, ""},
		{dtype.F6E2M3, []int{4}, 3, ""},
		{dtype.U8, []int{math.MaxInt}, math.MaxInt, ""},
		{dtype.F4, []int{math.MaxInt - 1}, (math.MaxInt - 1) / 2, ""},
		{dtype.F4, []int{3}, 0, "whole byte"},
		{dtype.F32, []int{2, -1}, 0, "negative dimension"},
		{dtype.F64, []int{math.MaxInt}, 0, "number of bytes overflows"},
		{dtype.U16, []int{math.MaxInt/2 + 1}, 0, "number of bytes overflows"},
		{dtype.U8, []int{math.MaxInt/2 + 1, 2}, 0, "number of elements overflows"},
		{dtype.U8, []int{math.MaxInt, math.MaxInt, math.MaxInt}, 0, "number of elements overflows"},
		{dtype.U8, []int{0, math.MaxInt, math.MaxInt}, 0, "number of elements overflows"},
		{dtype.Invalid, nil, 0, "no dtype"},
	}
	for _, tt := range tests {
		got, err := Bytes(tt.typ, tt.shape)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v %v: %d, %v; want error %q", tt.typ, tt.shape, got, err, tt.err)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%v %v: %d, %v; want %d", tt.typ, tt.shape, got, err, tt.want)
		}
	}
}
