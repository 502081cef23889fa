package weights

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// maxNearest is the number of names offered for a missing one.
	maxNearest = 3
	// maxMeasured is the number of names whose edit distance is computed, so
	// that a folder with thousands of foreign names is still compared at once.
	maxMeasured = 16
)

// nearest returns the stored names that are most likely one of the wanted names
// in another spelling: another prefix before the same last half of the dotted
// parts, or few edits. The nearest comes first.
func nearest(wanted, stored []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var best []candidate
	for _, want := range wanted {
		var rough []candidate
		for _, name := range stored {
			rough = append(rough, candidate{name, differing(want, name)})
		}
		slices.SortStableFunc(rough, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
		for _, c := range rough[:min(len(rough), maxMeasured)] {
			c.distance = editDistance(want, c.name)
			if sharesLastHalf(want, c.name) || 4*c.distance <= len(want) {
				best = append(best, c)
			}
		}
	}
	slices.SortFunc(best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range best {
		if len(names) < maxNearest && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// sharesLastHalf reports whether at least half of the dotted parts of want, and
// no fewer than two, end name too.
func sharesLastHalf(want, name string) bool {
	a, b := strings.Split(want, "."), strings.Split(name, ".")
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n >= 2 && 2*n >= len(a)
}

// differing is the length of what is left of the longer name without what both
// begin and end with: an upper bound of the edit distance, found in one pass.
func differing(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b))
}

// editDistance counts the bytes to insert, delete or replace (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances from a[:i] to every b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
