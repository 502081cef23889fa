package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/google/go-cmp/cmp"
)

// tinyExtent is as little as the operations can take.
var tinyExtent = extent{denseColumns: 3, experts: 1, ids: 5, attentionRows: 1}

func tinyMeasure(round kernel.Rounding, classes ...string) *kernelMeasure {
	return &kernelMeasure{
		KernelOptions: KernelOptions{Classes: classes, Threads: 2, Round: round, Budget: time.Microsecond},
		report:        &KernelReport{Arithmetic: arithmetic(round), Threads: 2},
		threads:       ThreadCounts(2), all: 1, extent: func(string) extent { return tinyExtent },
	}
}

// Every class runs every operation with every weight format on every thread count, and
// one of them in bf16 arithmetic as well.
func TestKernelCells(t *testing.T) {
	var classes []string
	for _, c := range kernel.Classes() {
		if c.Available {
			classes = append(classes, c.Name)
		}
	}
	for round, classes := range map[kernel.Rounding][]string{kernel.F32: classes, kernel.BF16: classes[:1]} {
		m := tinyMeasure(round, classes...)
		said := 0
		m.Progress = func(done, _ int, _ string) {
			if done != said {
				t.Errorf("progress of %d after %d", done, said)
			}
			said++
		}
		if err := m.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		m.report.finish(m.unpacking)
		got := map[[3]string]int{}
		for _, c := range m.report.Cells {
			got[c.key()]++
			if c.Runs == 0 || c.Operations <= 0 || c.Bytes <= 0 || c.Shape == "" {
				t.Errorf("%+v", c)
			}
		}
		want := map[[3]string]int{}
		for _, class := range classes {
			for _, operation := range []string{"dense", "experts", "head", "soft embedding"} {
				for _, format := range []string{"F32", "BF16", "F16", "Q8_0", "Q4_0"} {
					want[[3]string{class, format, operation}] = 2
				}
			}
			for _, operation := range []string{"attention, sliding", "attention, full", "RMSNorm", "GELU × up"} {
				want[[3]string{class, "", operation}] = 2
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cells (-want +got):\n%s", diff)
		}
		if said != len(m.report.Cells) {
			t.Errorf("%d cells were announced, %d measured", said, len(m.report.Cells))
		}
	}
}

func TestKernelsStop(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	m := tinyMeasure(kernel.F32, "generic")
	m.Progress = func(done, _ int, _ string) {
		if done == 2 {
			cancel(gone)
		}
	}
	if err := m.run(ctx); !errors.Is(err, gone) || len(m.report.Cells) != 3 {
		t.Errorf("%v after %d cells", err, len(m.report.Cells))
	}
}

// TestOperationCounts holds the counts of the full-size shapes.
func TestOperationCounts(t *testing.T) {
	s, err := newStorage(quant.BF16, vectorExtent.weightValues())
	if err != nil {
		t.Fatal(err)
	}
	list, err := weighted(s, vectorExtent, kernel.F32)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]float64{}
	for _, o := range append(list, unweighted(vectorExtent, kernel.F32)...) {
		got[o.name] = [2]float64{o.operations, o.bytes}
	}
	want := map[string][2]float64{
		"dense":              {2 * 256 * 2112 * 2816, 2*2112*2816 + 4*256*(2816+2112)},
		"experts":            {2 * 256 * 1408 * 2816, 2*16*1408*2816 + 4*256*(2816+1408)},
		"head":               {2 * 256 * 4096 * 2816, 2*4096*2816 + 4*256*(2816+4096)},
		"soft embedding":     {2 * 256 * 4096 * 2816, 2*4096*2816 + 4*256*(2816+4096)},
		"attention, sliding": {4 * 64 * 16 * 1279 * 256, 4*2*1279*8*256 + 4*2*64*16*256},
		"attention, full":    {4 * 64 * 16 * 1756 * 512, 4*2*1756*2*512 + 4*2*64*16*512},
		"RMSNorm":            {4 * 256 * 2816, 4 * 2 * 256 * 2816},
		"GELU × up":          {10 * 256 * 2112, 4 * 3 * 256 * 2112},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations and bytes (-want +got):\n%s", diff)
	}
}

// The weights differ from each other and are not zero: memory that was never written
// is one page.
func TestStorage(t *testing.T) {
	for _, format := range formats {
		s, err := newStorage(format, 1<<17)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float32, 1<<17)
		if err := quant.Decode(format, values, s.data); err != nil {
			t.Fatal(err)
		}
		kinds := map[float32]bool{}
		for _, v := range values {
			if v < -0.51 || v > 0.51 {
				t.Fatalf("%v: %v", format, v)
			}
			kinds[v] = true
		}
		if len(kinds) < 250 {
			t.Errorf("%v: only %d different values", format, len(kinds))
		}
	}
	if _, err := newStorage(quant.Q4_K, 256); err == nil {
		t.Error("weights of a format without an encoder")
	}
}

func TestSlowCells(t *testing.T) {
	cell := func(format string, threads int, cpu float64) Cell {
		return Cell{Class: "c", Format: format, Operation: "dense", Threads: threads, Timing: Timing{Seconds: 1, CPUSeconds: cpu}}
	}
	cells := []Cell{
		cell("F32", 1, 10), cell("F32", 2, 6), cell("BF16", 1, 100), cell("BF16", 2, 9.9), cell("F16", 2, 20),
		{Class: "c", Operation: "RMSNorm", Threads: 2, Timing: Timing{Seconds: 100, CPUSeconds: 100}},
	}
	key := func(format string) [3]string { return [3]string{"c", format, "dense"} }
	for _, c := range []struct {
		name      string
		unpacking float64
		reason    string
	}{
		{"explained", 14, "unpacking F16 alone takes 70 % of its time"},
		{"not explained", 3, "unpacking F16 alone takes 15 % of its time, which explains 14 % of the loss: the rest is not explained"},
	} {
		got := slowCells(cells, 2, map[[3]string]float64{key("F32"): 1, key("F16"): c.unpacking})
		want := []Slow{{Class: "c", Format: "F16", Operation: "dense", Relative: 0.3, Reason: c.reason}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// madeUp is a report of round numbers.
func madeUp() *KernelReport {
	r := &KernelReport{Arithmetic: "exact", Threads: 2, Slow: []Slow{}}
	for _, threads := range []int{1, 2} {
		r.Calibration.Peaks = append(r.Calibration.Peaks, Rate{"avx2", threads, 100e9 * float64(threads), 0, 100e9})
		r.Calibration.Bandwidths = append(r.Calibration.Bandwidths, Rate{"", threads, 10e9 * float64(threads), 0, 10e9})
		for i, format := range []string{"F32", "F16"} {
			seconds := 0.02 * float64(1+2*i) / float64(threads)
			r.Cells = append(r.Cells, Cell{
				Class: "avx2", Format: format, Operation: "dense", Shape: "10 × 20 × 30", Threads: threads,
				Timing: Timing{Runs: 5, Seconds: seconds, Least: seconds, Most: seconds, CPUSeconds: seconds * float64(threads)},
				Work:   Work{Operations: 1e9, Bytes: 1e7},
			})
		}
	}
	peaks := []Rate{{"avx2", 1, 100e9, 0, 0}, {"avx2", 2, 150e9, 0, 0}}
	r.Calibration.join(peaks, []Rate{{"", 1, 10e9, 0, 0}, {"", 2, 20e9, 0, 0}})
	r.finish(map[[3]string]float64{{"avx2", "F16", "dense"}: 0.045, {"avx2", "F32", "dense"}: 0.003})
	return r
}

func TestKernelText(t *testing.T) {
	const want = `avx2, exact arithmetic, 2 threads: peak 200.0 GFLOP/s, memory 20.0 GB/s
operation                  shape                                  ms     CPU ms   GF/s ×1   GF/s ×2      GB/s  share of ceiling   by CPU time
dense                F32   10 × 20 × 30                       10.000     20.000      50.0     100.0       1.0   50 % of peak             50 %
dense                F16   10 × 20 × 30                       30.000     60.000      16.7      33.3       0.3   17 % of peak             17 %

below 60 % of the speed with F32 weights:
  avx2, dense, F16: 33 %; unpacking F16 alone takes 75 % of its time

calibration, before and after:
  avx2 on 1                 100.0 GFLOP/s    100.0 GFLOP/s
  avx2 on 2                 200.0 GFLOP/s    150.0 GFLOP/s  drifted by 25 %
  reading on 1                  10.0 GB/s        10.0 GB/s
  reading on 2                  20.0 GB/s        20.0 GB/s
the calibration drifted by 25 %: something else used the machine; take these figures with care
`
	var b bytes.Buffer
	if err := madeUp().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestKernelJSON(t *testing.T) {
	r := madeUp()
	r.Cells = r.Cells[2:3]
	r.Calibration.Peaks, r.Calibration.Bandwidths = r.Calibration.Peaks[1:], r.Calibration.Bandwidths[1:]
	r.Slow[0].Relative = 0.3
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "arithmetic": "exact",
  "threads": 2,
  "calibration": {
    "peak_operations_per_second": [
      {
        "kernel_class": "avx2",
        "threads": 2,
        "before": 200000000000,
        "after": 150000000000,
        "per_cpu_second": 100000000000
      }
    ],
    "read_bytes_per_second": [
      {
        "threads": 2,
        "before": 20000000000,
        "after": 20000000000,
        "per_cpu_second": 10000000000
      }
    ],
    "drift": 0.25,
    "drifted": true
  },
  "cells": [
    {
      "kernel_class": "avx2",
      "format": "F32",
      "operation": "dense",
      "shape": "10 × 20 × 30",
      "threads": 2,
      "runs": 5,
      "seconds": 0.01,
      "least_seconds": 0.01,
      "most_seconds": 0.01,
      "cpu_seconds": 0.02,
      "operations": 1000000000,
      "bytes": 10000000,
      "operations_per_second": 100000000000,
      "bytes_per_second": 1000000000,
      "bound": "peak",
      "share_of_ceiling": 0.5,
      "cpu_share_of_ceiling": 0.5,
      "scaling": 2
    }
  ],
  "slow": [
    {
      "kernel_class": "avx2",
      "format": "F16",
      "operation": "dense",
      "relative": 0.3,
      "reason": "unpacking F16 alone takes 75 % of its time"
    }
  ]
}`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(data), "\n")); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
