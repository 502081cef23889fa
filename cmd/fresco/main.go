package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs one command line and returns the exit code.
func execute(args []string) int {
	// A closed pipe is an error of the write that met it, not the end of the
	// program in the middle of something.
	signal.Ignore(syscall.SIGPIPE)

	c := newConsole()
	defer c.clean() // also when something panics
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parser, err := newParser(c)
	if err != nil {
		return c.fail(err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return c.fail(parseError(err))
	}
	watch := watchInterrupts(c)
	defer watch.stop()
	parsed.BindTo(watch.ctx, (*context.Context)(nil))
	return c.fail(parsed.Run(c, parser))
}

// parseError turns an error of the parser into one of usage.
func parseError(err error) error {
	var write *writeError
	if errors.As(err, &write) { // help that could not be printed
		return err
	}
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return usage("%v", err)
	}
	command := "fresco"
	if node := parse.Context.Selected(); node != nil {
		command += " " + node.Path()
	}
	return &usageError{reason: err.Error(), command: command}
}
