package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"

	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/convert"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/liveview"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/weights"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1   // the work failed, or its answer was not accepted
	exitUsage       = 2   // the command line asks for something that cannot be
	exitRejected    = 3   // the checkpoint's content cannot be used
	exitInterrupted = 130 // Ctrl-C
)

var (
	// errInterrupted ends the context at the first Ctrl-C.
	errInterrupted = errors.New("interrupted")
	// errSaid ends a command whose failure has been told already.
	errSaid = errors.New("failed")
)

// A usageError says what is wrong with the command line.
type usageError struct {
	reason string
	// command is the one whose help may tell more.
	command string
}

func (e *usageError) Error() string { return e.reason }

func usage(format string, args ...any) error {
	return &usageError{reason: fmt.Sprintf(format, args...)}
}

// A writeError names the output that could not be written to.
type writeError struct {
	output string
	err    error
}

func (e *writeError) Error() string { return e.output + ": " + plainCause(e.err).Error() }
func (e *writeError) Unwrap() error { return e.err }

// plainCause leaves out the operation and name that the operating system's error
// repeats.
func plainCause(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

// fail prints an error and returns the exit code that goes with it.
func (c *console) fail(err error) int {
	c.clean()
	code := exitCode(err)
	switch {
	case err == nil, errors.Is(err, errSaid), errors.Is(err, errInterrupted), closedPipe(err):
		return code
	}
	text := err.Error()
	var refused *fresco.RequestError
	if errors.As(err, &refused) {
		text = inFlags(refused)
	}
	// Names from files are part of it.
	fmt.Fprintln(c.err, "fresco: "+liveview.Harmless(text))
	var wrong *usageError
	if errors.As(err, &wrong) && wrong.command != "" {
		fmt.Fprintf(c.err, "Run \"%s --help\" to see what it takes.\n", wrong.command)
	}
	return code
}

func exitCode(err error) int {
	var (
		wrong    *usageError
		refused  *fresco.RequestError
		unknown  *models.UnknownError
		class    *kernel.ClassError
		output   *convert.OutputError
		rejected *weights.RejectedError
	)
	switch {
	case err == nil, closedPipe(err):
		return exitOK
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &wrong), errors.As(err, &refused), errors.As(err, &unknown), errors.As(err, &class), errors.As(err, &output):
		return exitUsage
	case errors.As(err, &rejected):
		return exitRejected
	}
	return exitFailure
}

// closedPipe reports whether the reader of the output has gone, which ends the
// program without a word.
func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// fieldName matches the names of request fields that are no English words.
var fieldName = regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)

// entry matches the number of an entry in a field that is a list.
var entry = regexp.MustCompile(`\[\d+\]$`)

// inFlags tells what is wrong with a request in terms of the command line.
func inFlags(e *fresco.RequestError) string {
	flag := func(field string) string { return "--" + strings.ReplaceAll(field, "_", "-") }
	field := flag(entry.ReplaceAllString(e.Field, ""))
	if e.Field == "prompt" {
		field = "PROMPT"
	}
	return field + ": " + fieldName.ReplaceAllStringFunc(e.Reason, flag)
}
