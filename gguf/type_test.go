package gguf

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
)

// TestTypes holds the table against the numbers of ggml's type_traits.
func TestTypes(t *testing.T) {
	tests := []struct {
		number       uint32
		name         string
		block, bytes int
	}{
		{0, "F32", 1, 4}, {1, "F16", 1, 2}, {2, "Q4_0", 32, 18}, {3, "Q4_1", 32, 20},
		{6, "Q5_0", 32, 22}, {7, "Q5_1", 32, 24}, {8, "Q8_0", 32, 34}, {9, "Q8_1", 32, 36},
		{10, "Q2_K", 256, 84}, {11, "Q3_K", 256, 110}, {12, "Q4_K", 256, 144}, {13, "Q5_K", 256, 176},
		{14, "Q6_K", 256, 210}, {15, "Q8_K", 256, 292}, {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
		{18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50}, {20, "IQ4_NL", 32, 18}, {21, "IQ3_S", 256, 110},
		{22, "IQ2_S", 256, 82}, {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1}, {25, "I16", 1, 2},
		{26, "I32", 1, 4}, {27, "I64", 1, 8}, {28, "F64", 1, 8}, {29, "IQ1_M", 256, 56}, {30, "BF16", 1, 2},
		{34, "TQ1_0", 256, 54}, {35, "TQ2_0", 256, 66}, {39, "MXFP4", 32, 17}, {40, "NVFP4", 64, 36},
		{41, "Q1_0", 128, 18}, {42, "Q2_0", 64, 18},
	}
	for _, tt := range tests {
		typ := Type(tt.number)
		if typ.String() != tt.name || typ.BlockSize() != tt.block || typ.BlockBytes() != tt.bytes {
			t.Errorf("%d: %v of %d elements in %d bytes, want %s %d %d",
				tt.number, typ, typ.BlockSize(), typ.BlockBytes(), tt.name, tt.block, tt.bytes)
		}
	}
	if len(layouts) != len(tests) {
		t.Errorf("%d types in the table, %d tested", len(layouts), len(tests))
	}
	if none := Type(99); none.String() != "type 99" || none.BlockSize() != 0 || none.BlockBytes() != 0 {
		t.Errorf("an absent type: %v of %d elements in %d bytes", none, none.BlockSize(), none.BlockBytes())
	}
	for number := range removed {
		if _, ok := layouts[number]; ok {
			t.Errorf("type %d is both removed and present", uint32(number))
		}
	}
}

func TestGoldenBlockLayouts(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(fixtures.Dir(t, "formats"), "formats.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Quants map[string]struct {
			Type  uint32 `json:"ggml_type"`
			Block int    `json:"block"`
			Bytes int    `json:"bytes"`
		} `json:"quants"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Quants) == 0 {
		t.Fatal("no cases")
	}
	for name, want := range index.Quants {
		t.Run(name, func(t *testing.T) {
			typ := Type(want.Type)
			if typ.String() != name || typ.BlockSize() != want.Block || typ.BlockBytes() != want.Bytes {
				t.Errorf("type %d is %v of %d elements in %d bytes, want %+v",
					want.Type, typ, typ.BlockSize(), typ.BlockBytes(), want)
			}
		})
	}
}

func TestBytes(t *testing.T) {
	tests := []struct {
		typ  Type
		dims []int
		want int
		err  string
	}{
		{F32, []int{3}, 12, ""},
		{Q4_0, []int{64, 3, 2, 5}, 2 * 18 * 30, ""},
		{Q6_K, []int{2816, 262144}, 11 * 210 * 262144, ""},
		{Q6_K, []int{704, 2}, 0, "row of 704 elements is not a multiple of the block of Q6_K, 256"},
		{F32, nil, 0, "dimension count 0 is not 1 to 4"},
		{F32, []int{1, 1, 1, 1, 1}, 0, "dimension count 5 is not 1 to 4"},
		{F32, []int{4, 0}, 0, "dimension 1 is 0"},
		{F32, []int{-1}, 0, "dimension 0 is -1"},
		{I8, []int{math.MaxInt}, math.MaxInt, ""},
		{I16, []int{math.MaxInt/2 + 1}, 0, "overflow"},
		{F32, []int{math.MaxInt, math.MaxInt}, 0, "overflow"},
		{Type(5), []int{1}, 0, "tensor type 5 (Q4_3) was removed from the format"},
		{Type(99), []int{1}, 0, "unknown tensor type 99"},
	}
	for _, tt := range tests {
		got, err := tt.typ.Bytes(tt.dims)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v %d: error %v, want %q", tt.typ, tt.dims, err, tt.err)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%v %d: %d, %v; want %d", tt.typ, tt.dims, got, err, tt.want)
		}
	}
}
