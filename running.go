package fresco

import (
	"errors"
	"sync"
)

var (
	// ErrClosed is the error of a Generate, Answer or Validate after Close.
	ErrClosed = errors.New("fresco: the model was closed")
	// ErrBusy is the error of a Generate, Answer or Close while another Generate
	// of the same Model runs.
	ErrBusy = errors.New("fresco: another Generate of this model runs; it takes one at a time")
)

// running says whether a model is in use.
type running struct {
	mutex        sync.Mutex
	busy, closed bool
}

// begin starts a use, which end ends.
func (r *running) begin() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case r.closed:
		return ErrClosed
	case r.busy:
		return ErrBusy
	}
	r.busy = true
	return nil
}

func (r *running) end() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.busy = false
}

// open returns ErrClosed after close.
func (r *running) open() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.closed {
		return ErrClosed
	}
	return nil
}

// close refuses every later use and runs release, once.
func (r *running) close(release func() error) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case r.closed:
		return nil
	case r.busy:
		return ErrBusy
	}
	r.closed = true
	return release()
}
