package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567",
		-1: "-1", -100: "-100", -1000: "-1,000", -9223372036854775808: "-9,223,372,036,854,775,808",
	} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    string
	}{
		{[]int{4}, "4"}, {[]int{1, 0, 2}, "0-2"}, {[]int{0, 1, 3, 5, 6}, "0-1,3,5-6"}, {[]int{2, 2, 4}, "2,4"},
	} {
		if got := ranges(c.numbers); got != c.want {
			t.Errorf("%v: %q, want %q", c.numbers, got, c.want)
		}
	}
}

// Rows break between parts, and only there.
func TestJoined(t *testing.T) {
	parts := []string{"1 canvas", "2 of 3", "éé", "a part that is wider than every row"}
	for _, c := range []struct {
		width int
		want  []string
	}{
		{100, []string{strings.Join(parts, " · ")}},
		{22, []string{"1 canvas · 2 of 3 · éé", parts[3]}},
		{21, []string{"1 canvas · 2 of 3", "éé", parts[3]}},
		{1, parts},
	} {
		if diff := cmp.Diff(c.want, joined(parts, c.width)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", c.width, diff)
		}
	}
}

func TestShortened(t *testing.T) {
	if got, want := shortened("a\nb"), `"a\nb"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := shortened(strings.Repeat("é", 41)), `"`+strings.Repeat("é", 40)+`"…`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
