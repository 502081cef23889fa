package models

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// patience is how long loading may take before anyone hears of it.
	patience = time.Second
	tick     = 250 * time.Millisecond
)

// A watch reports the progress of loading.
type watch struct {
	bytes atomic.Int64
	done  chan struct{}
	group sync.WaitGroup
}

func startWatch(name string, begun time.Time, report func(Progress)) *watch {
	w := &watch{done: make(chan struct{})}
	if report == nil {
		return w
	}
	w.group.Go(func() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-timer.C:
				report(Progress{Name: name, Bytes: w.bytes.Load(), Elapsed: time.Since(begun)})
				timer.Reset(tick)
			}
		}
	})
	return w
}

func (w *watch) size(bytes int64) { w.bytes.Store(bytes) }

// stop returns when the last report has been made.
func (w *watch) stop() {
	close(w.done)
	w.group.Wait()
}
