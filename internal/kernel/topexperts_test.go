package kernel

import (
	"bufio"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTopExpertsKnownChoices compares with what the C++ library itself chose.
func TestTopExpertsKnownChoices(t *testing.T) {
	file, err := os.Open("testdata/topexperts.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list expertList
	cases := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		cases++
		parts := strings.Split(line, "|")
		if len(parts) != 3 {
			t.Fatalf("line %q has %d parts", line, len(parts))
		}
		k, err := strconv.Atoi(strings.TrimSpace(parts[0]))
		if err != nil {
			t.Fatal(err)
		}
		var p []float32
		for _, f := range strings.Fields(parts[1]) {
			v := math.NaN()
			if f != "n" {
				if v, err = strconv.ParseFloat(f, 32); err != nil {
					t.Fatal(err)
				}
			}
			p = append(p, float32(v))
		}
		var got []string
		for _, e := range list.top(p, k) {
			got = append(got, strconv.Itoa(int(e.id)))
		}
		if want := strings.Fields(parts[2]); !slices.Equal(got, want) {
			t.Errorf("the best %d of %s: %v, want %v", k, parts[1], got, want)
		}
	}
	if cases == 0 {
		t.Error("no cases")
	}
}

// Whatever the ties, the k largest values are chosen, in descending order, and
// each expert once.
func TestTopExpertsAreTheLargest(t *testing.T) {
	var list expertList
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.IntRange(1, 20).Draw(t, "levels")
		p := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, levels), func(n int) float32 {
			return float32(n) / 8
		}), 1, 130).Draw(t, "p")
		k := rapid.IntRange(1, len(p)).Draw(t, "k")
		sorted := slices.Clone(p)
		slices.Sort(sorted)
		slices.Reverse(sorted)
		seen := map[int32]bool{}
		for i, e := range list.top(p, k) {
			if e.p != sorted[i] {
				t.Fatalf("rank %d has %v, want %v", i, e.p, sorted[i])
			}
			if seen[e.id] || p[e.id] != e.p {
				t.Fatalf("expert %d is chosen twice, or has %v and not %v", e.id, p[e.id], e.p)
			}
			seen[e.id] = true
		}
	})
}

// Scores that are not finite panic nowhere; NaN comes first.
func TestTopExpertsNaN(t *testing.T) {
	var list expertList
	rapid.Check(t, func(t *rapid.T) {
		inf := float32(math.Inf(1))
		p := rapid.SliceOfN(rapid.SampledFrom([]float32{nan32, inf, -inf, 0, 1}), 1, 130).Draw(t, "p")
		k := rapid.IntRange(1, len(p)).Draw(t, "k")
		nans := 0
		for _, v := range p {
			if v != v {
				nans++
			}
		}
		for i, e := range list.top(p, k) {
			if isNaN := e.p != e.p; isNaN != (i < nans) {
				t.Fatalf("rank %d has %v, with %d NaN in all", i, e.p, nans)
			}
		}
	})
}
