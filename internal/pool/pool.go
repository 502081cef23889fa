package pool

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/frescolm/fresco/internal/machine"
)

// Cores returns the number of workers that keep this machine busy: the physical
// cores that this process may use, within the limits of its cgroup.
func Cores() int { return machine.Cores() }

// open is the bit of Pool.state that says that workers may join; the bits below
// count the workers that have joined and not left.
const open = 1 << 32

// A Pool is a fixed set of workers. Its methods may be called from any
// goroutine; runs happen one after another.
type Pool struct {
	workers int
	wake    []chan struct{} // of worker 1, 2, …; capacity 1
	drained chan struct{}   // one token when the last worker left a closed run
	stopped sync.WaitGroup

	run    sync.Mutex // held during a Run and by Close
	closed bool

	// f and n belong to the current run. They are written while no worker has
	// joined, and read only by workers that have.
	f func(worker, item int)
	n int64

	failure atomic.Pointer[Panic]
	state   atomic.Int64

	_    [64]byte // next is written for each item: keep it off the others' cache line
	next atomic.Int64
	_    [64]byte
}

// A Panic is what Run panics with when an item panicked.
type Panic struct {
	// Value is the value of the item's panic.
	Value any
	// Stack is the stack of the worker at that moment.
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\nin a pool worker:\n%s", p.Value, p.Stack) }

// Unwrap returns the value of the item's panic when it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// New starts a pool of the given number of workers, of which the caller of Run
// is one. Less than 1 counts as 1. Close releases the others.
func New(workers int) *Pool {
	workers = max(workers, 1)
	p := &Pool{workers: workers, drained: make(chan struct{}, 1)}
	for w := 1; w < workers; w++ {
		wake := make(chan struct{}, 1)
		p.wake = append(p.wake, wake)
		p.stopped.Go(func() {
			for range wake {
				p.join(w)
			}
		})
	}
	return p
}

// Workers returns the number of workers, the caller of Run included. Worker
// numbers go from 0 to Workers()-1.
func (p *Pool) Workers() int { return p.workers }

// Run calls f once for each item from 0 to n-1 and returns when all calls have
// returned. At any time a worker's number is in use by one call only; the caller
// of Run is worker 0. f must not call Run of the same pool.
//
// When an item panics, items that nobody has begun are dropped, and Run panics
// with a *Panic. The pool stays usable.
func (p *Pool) Run(n int, f func(worker, item int)) {
	if n <= 0 {
		return
	}
	p.run.Lock()
	defer p.run.Unlock()

	p.f, p.n = f, int64(n)
	p.next.Store(0)
	p.failure.Store(nil)
	p.share(min(len(p.wake), n-1))
	if failure := p.failure.Load(); failure != nil {
		panic(failure)
	}
}

// share does the items of the current run together with up to the given number
// of helpers.
func (p *Pool) share(helpers int) {
	// Deferred, because f may end its goroutine.
	defer func() { p.f = nil }()
	if helpers == 0 || p.closed {
		p.work(0)
		return
	}
	p.state.Store(open)
	defer p.finish()
	for _, wake := range p.wake[:helpers] {
		select {
		case wake <- struct{}{}:
		default: // it has not yet taken the last token, and will find this run
		}
	}
	p.work(0)
}

// finish closes the run and waits for the workers in it. A worker that has not
// joined by now would find nothing to do, so nobody waits for it to wake up.
func (p *Pool) finish() {
	if p.state.Add(-open) > 0 {
		<-p.drained
	}
}

// join takes part in the run that is open, if there is one.
func (p *Pool) join(worker int) {
	for {
		s := p.state.Load()
		if s&open == 0 {
			return
		}
		if p.state.CompareAndSwap(s, s+1) {
			break
		}
	}
	defer func() {
		if p.state.Add(-1) == 0 {
			p.drained <- struct{}{}
		}
	}()
	p.work(worker)
}

// work takes items until none is left.
func (p *Pool) work(worker int) {
	defer func() {
		if v := recover(); v != nil {
			p.failure.CompareAndSwap(nil, &Panic{v, debug.Stack()})
			p.next.Store(p.n)
		}
	}()
	for {
		item := p.next.Add(1) - 1
		if item >= p.n {
			return
		}
		p.f(worker, int(item))
	}
}

// Close ends the workers and waits until they have. A later Run does all items
// in its caller.
func (p *Pool) Close() {
	p.run.Lock()
	defer p.run.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	for _, wake := range p.wake {
		close(wake)
	}
	p.stopped.Wait()
}
