package rng_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/rng"
)

// The known answers that the Random123 library publishes for philox4x32 10.
func TestBlockKnownAnswers(t *testing.T) {
	const ones = 0xffffffff
	tests := []struct {
		name    string
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{"zeros", [4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{"ones", [4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{
			"digits of pi", [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			[2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := rng.Block(test.key, test.counter); got != test.want {
				t.Errorf("Block(%08x, %08x) = %08x, want %08x", test.key, test.counter, got, test.want)
			}
		})
	}
}

func TestUniform(t *testing.T) {
	const ones = 0xffffffff
	tests := []struct {
		block [4]uint32
		want  float64
	}{
		{[4]uint32{0, 0, ones, ones}, 0},
		{[4]uint32{1<<11 - 1, 0, 0, 0}, 0}, // the lowest 11 bits are dropped
		{[4]uint32{1 << 11, 0, 0, 0}, 0x1p-53},
		{[4]uint32{0, 1 << 31, 0, 0}, 0.5}, // word 1 is the high half
		{[4]uint32{ones, ones, 0, 0}, 1 - 0x1p-53},
	}
	for _, test := range tests {
		if got := rng.Uniform(test.block); got != test.want {
			t.Errorf("Uniform(%08x) = %v, want %v", test.block, got, test.want)
		}
	}
}

func TestIndex(t *testing.T) {
	const ones = 0xffffffff
	tests := []struct {
		block [4]uint32
		n     int
		want  int
	}{
		{[4]uint32{0, 0, ones, ones}, 10, 0},
		{[4]uint32{ones, ones, 0, 0}, 10, 9},
		{[4]uint32{0, 1 << 31, 0, 0}, 10, 5},
		{[4]uint32{ones, 1<<31 - 1, 0, 0}, 10, 4},
		{[4]uint32{ones, ones, 0, 0}, 1, 0},
		{[4]uint32{ones, ones, 0, 0}, 0, 0},
		{[4]uint32{ones, ones, 0, 0}, -3, 0},
	}
	for _, test := range tests {
		if got := rng.Index(test.block, test.n); got != test.want {
			t.Errorf("Index(%08x, %d) = %d, want %d", test.block, test.n, got, test.want)
		}
	}
}

func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Uint32(), 4, 4).Draw(t, "words")
		block := [4]uint32(words)
		if u := rng.Uniform(block); u < 0 || u >= 1 {
			t.Fatalf("Uniform(%08x) = %v", block, u)
		}
		n := rapid.IntRange(1, 1<<40).Draw(t, "n")
		if k := rng.Index(block, n); k < 0 || k >= n {
			t.Fatalf("Index(%08x, %d) = %d", block, n, k)
		}
	})
}

// Consecutive positions must look independent: over 32,000 draws from 32 ids
// the chi-square statistic (31 degrees of freedom) stays below 61, its 99.9 %
// quantile; the draws are fixed, so the test cannot be unlucky.
func TestIndexIsUniformOverPositions(t *testing.T) {
	const ids, draws = 32, 32000
	var counts [ids]int
	for p := range draws {
		at := canvas.Address{Seed: 1, Position: uint32(p), Purpose: canvas.PurposeRenoise}
		counts[rng.Index(rng.Block(at.Key(), at.Counter()), ids)]++
	}
	chi := 0.0
	for _, n := range counts {
		d := float64(n) - draws/ids
		chi += d * d / (draws / ids)
	}
	if chi > 61 {
		t.Errorf("chi-square %.1f of 31 degrees of freedom; counts %v", chi, counts)
	}
}

func TestFreshSeed(t *testing.T) {
	a, b := rng.FreshSeed(), rng.FreshSeed()
	if a == b {
		t.Errorf("two fresh seeds are both %d", a)
	}
	for range 64 {
		if s := rng.FreshSeed(); s >= 1<<53 {
			t.Fatalf("seed %d is not below 2⁵³", s)
		}
	}
}

// The table of known answers in docs/randomness.md is the test of the scheme:
// address → key and counter → block → numbers.
func TestSchemeKnownAnswers(t *testing.T) {
	rows := schemeTable(t)
	if len(rows) < 8 {
		t.Fatalf("the page has %d known answers, want at least 8", len(rows))
	}
	purposes := map[string]canvas.Purpose{
		"initial": canvas.PurposeInitial, "candidate": canvas.PurposeCandidate,
		"renoise": canvas.PurposeRenoise, "token": canvas.PurposeToken,
	}
	seen := map[canvas.Purpose]bool{}
	for i, row := range rows {
		if len(row) != 12 {
			t.Fatalf("row %d has %d columns, want 12: %q", i, len(row), row)
		}
		number := func(column, bits int) uint64 {
			n, err := strconv.ParseUint(row[column], 10, bits)
			if err != nil {
				t.Fatalf("row %d, column %d: %v", i, column, err)
			}
			return n
		}
		purpose, known := purposes[row[5]]
		if !known {
			t.Fatalf("row %d: unknown purpose %q", i, row[5])
		}
		seen[purpose] = true
		at := canvas.Address{
			Seed: number(0, 64), Position: uint32(number(1, 32)), Canvas: uint32(number(2, 32)), Step: uint16(number(3, 16)),
			Attempt: uint8(number(4, 8)), Purpose: purpose, Choice: uint16(number(6, 16)), Sub: uint16(number(7, 16)),
		}
		block := rng.Block(at.Key(), at.Counter())
		got := []string{
			fmt.Sprintf("%08x %08x %08x %08x", at.Counter()[0], at.Counter()[1], at.Counter()[2], at.Counter()[3]),
			fmt.Sprintf("%08x %08x %08x %08x", block[0], block[1], block[2], block[3]),
			strconv.FormatFloat(rng.Uniform(block), 'g', -1, 64),
			strconv.Itoa(rng.Index(block, 262144)),
		}
		if diff := cmp.Diff(row[8:], got); diff != "" {
			t.Errorf("row %d (%+v): page (-) and program (+):\n%s", i, at, diff)
		}
	}
	if len(seen) != len(purposes) {
		t.Errorf("the page shows %d of %d purposes", len(seen), len(purposes))
	}
}

// schemeTable returns the cells of the table below the heading "Known answers",
// without its two heading rows.
func schemeTable(t *testing.T) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join(fixtures.Root(), "docs", "randomness.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows [][]string
	inside := false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			inside = strings.HasSuffix(line, "Known answers")
		}
		if !inside || !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		rows = append(rows, cells)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 2 {
		t.Fatal("docs/randomness.md has no table of known answers")
	}
	return rows[2:]
}
