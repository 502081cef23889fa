package bench

import "fmt"

// slowBelow is the share of the speed of float32 weights below which a cell is named.
const slowBelow = 0.60

// A Slow is a cell that is slow beside the same operation with float32 weights.
type Slow struct {
	Class     string `json:"kernel_class"`
	Format    string `json:"format"`
	Operation string `json:"operation"`
	// Relative is the speed beside that of float32 weights.
	Relative float64 `json:"relative"`
	Reason   string  `json:"reason"`
}

// slowCells compares the cells on all threads with those of float32 weights, by their
// effort. unpacking holds that of unpacking alone, by cell.
func slowCells(cells []Cell, threads int, unpacking map[[3]string]float64) []Slow {
	reference := map[[3]string]Cell{}
	for _, c := range cells {
		if c.Threads == threads {
			reference[c.key()] = c
		}
	}
	list := []Slow{}
	for _, c := range cells {
		base, ok := reference[[3]string{c.Class, formats[0].String(), c.Operation}]
		if c.Threads != threads || c.Format == "" || !ok || c.effort() <= 0 {
			continue
		}
		relative := base.effort() / c.effort()
		if relative >= slowBelow {
			continue
		}
		own, its := unpacking[c.key()], unpacking[base.key()]
		list = append(list, Slow{c.Class, c.Format, c.Operation, relative, slowReason(c, base, own, its)})
	}
	return list
}

// slowReason says how much of the loss unpacking explains: own and its are the effort
// of unpacking these weights alone, and float32 ones.
func slowReason(c, base Cell, own, its float64) string {
	lost := c.effort() - base.effort()
	share := (own - its) / lost
	text := fmt.Sprintf("unpacking %s alone takes %.0f %% of its time", c.Format, 100*min(own/c.effort(), 1))
	if share >= 0.5 {
		return text
	}
	return text + fmt.Sprintf(", which explains %.0f %% of the loss: the rest is not explained", 100*max(share, 0))
}
