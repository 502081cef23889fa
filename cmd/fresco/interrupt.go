package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interrupts turns signals into the end of a context. The first one ends it, so
// that the work stops between two steps and prints what it has; the second one
// ends the program.
type interrupts struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	signals chan os.Signal
	done    chan struct{}
}

func watchInterrupts(c *console) *interrupts {
	w := &interrupts{signals: make(chan os.Signal, 2), done: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	signal.Notify(w.signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-w.done:
				return
			case <-w.signals:
				if n > 0 {
					c.clean()
					os.Exit(exitInterrupted)
				}
				w.cancel(errInterrupted)
			}
		}
	}()
	return w
}

func (w *interrupts) stop() {
	signal.Stop(w.signals)
	close(w.done)
	w.cancel(nil)
}
