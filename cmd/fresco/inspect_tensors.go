package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A tensorRow stands for tensors that differ only in the number of their layer.
type tensorRow struct {
	// name has a * in the place of that number.
	name, dtype, shape string
	layers             []int
	count              int
	bytes              int64
}

var layerNumber = regexp.MustCompile(`\.(\d+)\.`)

// asideName returns the group that a tensor is set aside with, "" for none.
func (r *inspectReport) asideName(tensor string) string {
	for _, group := range r.Aside {
		for _, prefix := range group.prefixes {
			if strings.HasPrefix(tensor, prefix) {
				return group.Name
			}
		}
	}
	return ""
}

// tensorRows gathers the tensors of the table: every one by itself, or those of
// all layers, and of what is set aside, in one row.
func (r *inspectReport) tensorRows(every bool) []*tensorRow {
	var rows []*tensorRow
	known := map[string]*tensorRow{}
	for _, t := range r.Tensors {
		name := t.Name
		var layers []int
		if match := layerNumber.FindStringSubmatch(name); match != nil && !every {
			name = layerNumber.ReplaceAllString(name, ".*.")
			if n, err := strconv.Atoi(match[1]); err == nil {
				layers = []int{n}
			}
		}
		dtype, shape := t.DType, strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", " × ")
		if group := r.asideName(t.Name); group != "" && !every {
			name, dtype, shape, layers = group+" (set aside)", "", "", nil
		}
		key := name + "\n" + dtype + "\n" + shape
		row := known[key]
		if row == nil {
			row = &tensorRow{name: name, dtype: dtype, shape: shape}
			known[key], rows = row, append(rows, row)
		}
		row.layers = append(row.layers, layers...)
		row.count++
		row.bytes += t.Bytes
	}
	// Where layers differ, a name stands in several rows: which layers are they?
	times := map[string]int{}
	for _, row := range rows {
		times[row.name]++
	}
	for _, row := range rows {
		if times[row.name] > 1 && len(row.layers) > 0 {
			row.name = strings.Replace(row.name, "*", ranges(row.layers), 1)
		}
	}
	return rows
}

// ranges writes numbers as 0-4,6.
func ranges(numbers []int) string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		n := 1
		for i+n < len(numbers) && numbers[i+n] == numbers[i]+n {
			n++
		}
		part := strconv.Itoa(numbers[i])
		if n > 1 {
			part += "-" + strconv.Itoa(numbers[i]+n-1)
		}
		parts = append(parts, part)
		i += n
	}
	return strings.Join(parts, ",")
}

// tensorText writes the table of tensors, no wider than what stands in it.
func (r *inspectReport) tensorText(b *strings.Builder, every bool) {
	var total int64
	for _, t := range r.Tensors {
		total += t.Bytes
	}
	table := [][]string{{"tensor", "count", "dtype", "shape", "bytes"}}
	for _, row := range r.tensorRows(every) {
		table = append(table, []string{row.name, strconv.Itoa(row.count), row.dtype, row.shape, grouped(row.bytes)})
	}
	table = append(table, []string{"in " + fileNames(r.Tensors), strconv.Itoa(len(r.Tensors)), "", "", grouped(total)})
	widths := make([]int, len(table[0]))
	for _, cells := range table {
		for i, cell := range cells {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	b.WriteString("\n")
	for _, cells := range table {
		fmt.Fprintf(b, "%-*s  %*s  %-*s  %-*s  %*s\n", widths[0], cells[0], widths[1], cells[1],
			widths[2], cells[2], widths[3], cells[3], widths[4], cells[4])
	}
}

// fileNames names the files that hold tensors, or counts them.
func fileNames(tensors []tensorReport) string {
	var names []string
	for _, t := range tensors {
		if !slices.Contains(names, t.File) {
			names = append(names, t.File)
		}
	}
	if len(names) > 1 {
		return fmt.Sprintf("%d files", len(names))
	}
	return strings.Join(names, "")
}

// layerPattern writes the kinds of layers, runs of the same counted.
func layerPattern(layers []string) string {
	var parts []string
	for i := 0; i < len(layers); {
		n := 1
		for i+n < len(layers) && layers[i+n] == layers[i] {
			n++
		}
		if n == 1 {
			parts = append(parts, layers[i])
		} else {
			parts = append(parts, fmt.Sprintf("%d × %s", n, layers[i]))
		}
		i += n
	}
	return strings.Join(parts, ", ")
}
