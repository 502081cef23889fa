package pool_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/frescolm/fresco/internal/pool"
)

func TestEachItemRunsOnce(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 2, 3, 7, 64} {
		p := pool.New(workers)
		defer p.Close()
		if want := max(workers, 1); p.Workers() != want {
			t.Errorf("New(%d).Workers() = %d, want %d", workers, p.Workers(), want)
		}
		for _, n := range []int{0, 1, 2, 5, 1000} {
			count := make([]int32, n)
			busy := make([]atomic.Bool, p.Workers())
			p.Run(n, func(worker, item int) {
				if busy[worker].Swap(true) {
					t.Errorf("worker %d of %d runs two items at a time", worker, workers)
				}
				count[item]++
				busy[worker].Store(false)
			})
			for item, c := range count {
				if c != 1 {
					t.Fatalf("%d workers, %d items: item %d ran %d times", workers, n, item, c)
				}
			}
		}
	}
}

// Runs that follow each other closely meet workers that wake up late, leave
// late, or have a token from the run before.
func TestManyShortRuns(t *testing.T) {
	p := pool.New(5)
	defer p.Close()
	for i := range 20000 {
		n := i % 9
		var sum atomic.Int64
		p.Run(n, func(_, item int) { sum.Add(int64(item) + 1) })
		if want := int64(n * (n + 1) / 2); sum.Load() != want {
			t.Fatalf("run %d of %d items: sum %d, want %d", i, n, sum.Load(), want)
		}
	}
}

// Every worker takes part when the items wait for each other.
func TestAllWorkersTakePart(t *testing.T) {
	const workers = 6
	p := pool.New(workers)
	defer p.Close()
	for range 50 {
		var arrived sync.WaitGroup
		arrived.Add(workers)
		var seen [workers]atomic.Int32
		p.Run(workers, func(worker, _ int) {
			seen[worker].Add(1)
			arrived.Done()
			arrived.Wait()
		})
		for worker := range seen {
			if n := seen[worker].Load(); n != 1 {
				t.Fatalf("worker %d ran %d items, want 1", worker, n)
			}
		}
	}
}

func TestConcurrentCallers(t *testing.T) {
	p := pool.New(3)
	defer p.Close()
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 200 {
				var n atomic.Int32
				p.Run(10, func(_, _ int) { n.Add(1) })
				if n.Load() != 10 {
					t.Errorf("%d items ran, want 10", n.Load())
				}
			}
		})
	}
	callers.Wait()
}

func explode(value any) { panic(value) }

func TestPanicReachesTheCaller(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		p := pool.New(workers)
		defer p.Close()
		for bad := range workers { // every worker once, the caller among them
			var arrived sync.WaitGroup
			arrived.Add(workers)
			value := fmt.Errorf("worker %d: %w", bad, fs.ErrInvalid)
			got := func() (v any) {
				defer func() { v = recover() }()
				p.Run(workers, func(worker, _ int) {
					arrived.Done()
					arrived.Wait()
					if worker == bad {
						explode(value)
					}
				})
				return nil
			}()
			raised, ok := got.(*pool.Panic)
			if !ok {
				t.Fatalf("%d workers, worker %d panics: Run panics with %T, want *pool.Panic", workers, bad, got)
			}
			if raised.Value != value || !errors.Is(raised, fs.ErrInvalid) {
				t.Errorf("value %v, want %v", raised.Value, value)
			}
			for _, want := range []string{value.Error(), "explode"} {
				if !strings.Contains(raised.Error(), want) {
					t.Errorf("%q is not in the text:\n%s", want, raised)
				}
			}
			ran := 0
			p.Run(1, func(_, _ int) { ran++ })
			if ran != 1 {
				t.Errorf("after a panic an item ran %d times, want 1", ran)
			}
		}
	}
}

func TestPanicDropsTheRest(t *testing.T) {
	p := pool.New(1)
	ran := 0
	func() {
		defer func() { _ = recover() }()
		p.Run(100, func(_, item int) {
			ran++
			if item == 3 {
				panic("stop")
			}
		})
	}()
	if ran != 4 {
		t.Errorf("%d items ran, want 4", ran)
	}
}

func TestOneWorkerRunsInline(t *testing.T) {
	before := runtime.NumGoroutine()
	p := pool.New(1)
	defer p.Close()
	var order []int
	p.Run(5, func(worker, item int) {
		if worker != 0 {
			t.Errorf("worker %d, want 0", worker)
		}
		order = append(order, item)
	})
	if fmt.Sprint(order) != "[0 1 2 3 4]" {
		t.Errorf("order %v", order)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, before %d", after, before)
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	for _, workers := range []int{1, 4} {
		p := pool.New(workers)
		defer p.Close()
		var sum atomic.Int64
		f := func(_, item int) { sum.Add(int64(item)) }
		if n := testing.AllocsPerRun(1000, func() { p.Run(16, f) }); n != 0 {
			t.Errorf("%d workers: %v allocations a run, want 0", workers, n)
		}
	}
}

func TestRunStartsNoGoroutine(t *testing.T) {
	p := pool.New(4)
	defer p.Close()
	before := runtime.NumGoroutine()
	p.Run(100, func(_, item int) {
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("item %d: %d goroutines, before %d", item, n, before)
		}
	})
}

func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	p := pool.New(4)
	p.Close()
	p.Close()
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines after Close, before %d", after, before)
	}
	var ran [3]int
	p.Run(3, func(worker, item int) { ran[item] += 1 + worker })
	if ran != [3]int{1, 1, 1} {
		t.Errorf("after Close: %v, want every item once in worker 0", ran)
	}
}

func TestCores(t *testing.T) {
	if n := pool.Cores(); n < 1 || n > runtime.NumCPU() {
		t.Errorf("Cores() = %d of %d logical processors", n, runtime.NumCPU())
	}
}

func BenchmarkRun(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			p := pool.New(workers)
			defer p.Close()
			f := func(_, _ int) {}
			for b.Loop() {
				p.Run(16, f)
			}
		})
	}
}
