package bench

import (
	"context"
	"time"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/quant"
)

// KernelOptions say what of the kernels is measured.
type KernelOptions struct {
	// Classes are measured in this order.
	Classes []string
	// Threads is the largest thread count; smaller ones are measured as well.
	Threads int
	Round   kernel.Rounding
	// Budget is about how long the cells take together.
	Budget time.Duration
	// Progress, when not nil, is told what comes next.
	Progress func(done, all int, what string)
}

// A KernelReport is the table class × weight format × operation.
type KernelReport struct {
	Arithmetic  string      `json:"arithmetic"`
	Threads     int         `json:"threads"`
	Calibration Calibration `json:"calibration"`
	Cells       []Cell      `json:"cells"`
	// Slow names the cells that are slow beside float32 weights.
	Slow []Slow `json:"slow"`
}

// A Cell is one operation in one class with one weight format.
type Cell struct {
	Class string `json:"kernel_class"`
	// Format is the type of the weights, empty without weights.
	Format    string `json:"format"`
	Operation string `json:"operation"`
	Shape     string `json:"shape"`
	Threads   int    `json:"threads"`
	Timing
	Work
	// CPUShare is the share of the ceiling by computing time, 0 where it is not known.
	CPUShare float64 `json:"cpu_share_of_ceiling"`
	// Scaling is the speed beside that of one thread.
	Scaling float64 `json:"scaling"`
}

// key names a cell whatever its threads.
func (c Cell) key() [3]string { return [3]string{c.Class, c.Format, c.Operation} }

// Kernels measures operations between two calibrations.
func Kernels(ctx context.Context, o KernelOptions) (*KernelReport, error) {
	r := &KernelReport{Arithmetic: arithmetic(o.Round), Threads: o.Threads, Slow: []Slow{}}
	m := &kernelMeasure{KernelOptions: o, report: r, threads: ThreadCounts(o.Threads), extent: extentOf}
	m.all = len(o.Classes) * len(m.threads) * (4*len(formats) + 4)
	if err := r.Calibration.begin(o.Classes, m.threads); err != nil {
		return nil, err
	}
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	if err := r.Calibration.end(o.Classes, m.threads); err != nil {
		return nil, err
	}
	r.finish(m.unpacking)
	return r, nil
}

func arithmetic(r kernel.Rounding) string {
	if r == kernel.BF16 {
		return "bf16"
	}
	return "exact"
}

// kernelMeasure goes over the cells.
type kernelMeasure struct {
	KernelOptions
	report    *KernelReport
	threads   []int
	done, all int
	// extent says how much of the full size a class takes.
	extent func(class string) extent
	// unpacking holds the effort of unpacking alone, by the key of a cell, on all
	// threads.
	unpacking map[[3]string]float64
}

func (m *kernelMeasure) run(ctx context.Context) error {
	m.unpacking = map[[3]string]float64{}
	for _, format := range formats {
		values := 0
		for _, class := range m.Classes {
			values = max(values, m.extent(class).weightValues())
		}
		s, err := newStorage(format, values)
		if err != nil {
			return err
		}
		for _, class := range m.Classes {
			list, err := weighted(s, m.extent(class), m.Round)
			if err != nil {
				return err
			}
			if err := m.cells(ctx, class, &format, list); err != nil {
				return err
			}
		}
	}
	for _, class := range m.Classes {
		if err := m.cells(ctx, class, nil, unweighted(m.extent(class), m.Round)); err != nil {
			return err
		}
	}
	return nil
}

// cells measures operations of one class and format on all thread counts.
func (m *kernelMeasure) cells(ctx context.Context, class string, format *quant.Format, list []operation) error {
	k, err := kernel.Choose(class)
	if err != nil {
		return err
	}
	budget := m.Budget / time.Duration(m.all)
	for _, threads := range m.threads {
		team := kernel.NewTeam(k, threads)
		for _, o := range list {
			cell := Cell{Class: class, Operation: o.name, Shape: o.shape, Threads: threads, Work: Work{Operations: o.operations, Bytes: o.bytes}}
			if format != nil {
				cell.Format = format.String()
			}
			if m.Progress != nil {
				m.Progress(m.done, m.all, class+" "+o.name+" "+cell.Format)
			}
			m.done++
			cell.Timing = measure(budget, func() { o.run(team) })
			m.report.Cells = append(m.report.Cells, cell)
			if format != nil && threads == m.Threads {
				took := measure(budget/8, func() { team.Unpack(o.matrix, m.Round) })
				m.unpacking[cell.key()] = took.effort()
			}
			if err := ctx.Err(); err != nil {
				team.Close()
				return context.Cause(ctx)
			}
		}
		team.Close()
	}
	return nil
}

// finish sets what follows from the measurements.
func (r *KernelReport) finish(unpacking map[[3]string]float64) {
	alone := map[[3]string]float64{}
	for i := range r.Cells {
		c := &r.Cells[i]
		clock, computing := r.Calibration.ceilings(c.Class, c.Threads)
		c.Work = newWork(c.Operations, c.Bytes, c.Seconds, clock)
		c.CPUShare = newWork(c.Operations, c.Bytes, c.CPUSeconds, computing).Share
		if c.Threads == 1 {
			alone[c.key()] = c.Seconds
		}
		if one := alone[c.key()]; c.Seconds > 0 {
			c.Scaling = one / c.Seconds
		}
	}
	r.Slow = slowCells(r.Cells, r.Threads, unpacking)
}
