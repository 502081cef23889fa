package weights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/frescolm/fresco/internal/quant"
)

// floats lists the formats of a slot that names none.
var floats = []quant.Format{quant.F32, quant.BF16, quant.F16}

// Compare compares names, shapes and types of the stored tensors with what is
// expected, without reading their elements. Tensors whose names begin with a
// prefix of an aside group, and which no slot claims, count as known; groups of
// which the checkpoint has nothing are left out of the report.
func (c *Checkpoint) Compare(slots []Slot, aside []Group) Report {
	report, _ := c.match(slots, aside)
	return report
}

// match compares, and returns for each slot that has a fitting tensor the index
// of that tensor, by the slot's name.
func (c *Checkpoint) match(slots []Slot, aside []Group) (Report, map[string]int) {
	report := Report{Found: c.Tensors()}
	stored := make(map[string]int, len(report.Found))
	for i, info := range report.Found {
		stored[info.Name] = i
	}
	claimed := make([]bool, len(report.Found))
	bound := make(map[string]int, len(slots))
	for _, slot := range slots {
		var present []int
		for _, name := range slot.names() {
			if i, ok := stored[name]; ok {
				present = append(present, i)
				claimed[i] = true
			}
		}
		if len(present) == 0 {
			report.Missing = append(report.Missing, Missing{Slot: slot})
			continue
		}
		info := report.Found[present[0]]
		reason := c.misfit(present[0], slot)
		if len(present) > 1 {
			reason = fmt.Sprintf("stored again as %s: only one of the two names may be there", report.Found[present[1]].Name)
		}
		if reason != "" {
			report.Wrong = append(report.Wrong, Wrong{Info: info, Slot: slot, Reason: reason})
			continue
		}
		bound[slot.Name] = present[0]
	}
	groups := slices.Clone(aside)
	for i, info := range report.Found {
		if claimed[i] {
			continue
		}
		if g := slices.IndexFunc(groups, func(g Group) bool { return g.claims(info.Name) }); g >= 0 {
			groups[g].Count++
			groups[g].Bytes += info.Bytes
			continue
		}
		report.Surplus = append(report.Surplus, info.Name)
	}
	report.Aside = slices.DeleteFunc(groups, func(g Group) bool { return g.Count == 0 })
	for i, m := range report.Missing {
		// What belongs to another slot or to a group is not the missing tensor
		// under another name.
		report.Missing[i].Nearest = nearest(m.Slot.names(), report.Surplus)
	}
	return report, bound
}

func (s Slot) names() []string { return append([]string{s.Name}, s.Aliases...) }

func (g Group) claims(name string) bool {
	return slices.ContainsFunc(g.Prefix, func(p string) bool { return strings.HasPrefix(name, p) })
}

// misfit says what about stored tensor i does not fit the slot, "" for nothing.
func (c *Checkpoint) misfit(i int, slot Slot) string {
	info, format := c.infos[i], c.tensors[i].Format
	var reasons []string
	if !slices.Equal(info.Shape, slot.Shape) {
		reasons = append(reasons, fmt.Sprintf("shape %v, expected %v", info.Shape, slot.Shape))
	}
	formats, blocks := slot.Formats, false
	if formats == nil {
		formats, blocks = floats, len(slot.Shape) > 1
	}
	if !slices.Contains(formats, format) && (!blocks || format == quant.Invalid) {
		names := make([]string, len(formats))
		for i, f := range formats {
			names[i] = f.String()
		}
		if blocks && c.gguf != nil { // a folder has none
			names = append(names, "a block format")
		}
		reasons = append(reasons, fmt.Sprintf("type %s, expected %s", info.Type, strings.Join(names, " or ")))
	}
	return strings.Join(reasons, "; ")
}
