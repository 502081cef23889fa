package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
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
	parser, err := newParser(c)
	if err != nil {
		return c.fail(err)
	}
	parsed, err := parser.Parse(asCommand(args))
	if err != nil {
		return c.fail(parseError(err))
	}
	watch := watchInterrupts(c)
	defer watch.stop()
	parsed.BindTo(watch.ctx, (*context.Context)(nil))
	return c.fail(parsed.Run(c, parser))
}

// asCommand turns what people try first into a command of this program.
func asCommand(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version", args[0] == "-v":
		return append([]string{"version"}, args[1:]...)
	}
	return args
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
	command, reason := "fresco", err.Error()
	if node := parse.Context.Selected(); node != nil {
		command += " " + node.Path()
		reason = advised(node, reason)
	}
	return &usageError{reason: reason, command: command}
}

// dashed matches the complaint about an argument that looks like a prompt: it
// begins with one dash, or holds a blank.
var dashed = regexp.MustCompile(`^unknown flag (-[^-]|--[^,]*\s)`)

// advised adds to a complaint what may have been meant at a command.
func advised(node *kong.Node, reason string) string {
	switch {
	case node.Name == "run" && dashed.MatchString(reason):
		// Short flags that it may be a slip of are of no help.
		reason, _, _ = strings.Cut(reason, ", did you mean")
		return reason + "; a PROMPT that begins with \"-\" goes after \"--\""
	case strings.HasPrefix(reason, "unexpected argument") && len(node.Children) > 0:
		var names []string
		for _, child := range node.Children {
			names = append(names, child.Name)
		}
		return reason + "; \"fresco " + node.Path() + "\" knows " + strings.Join(names, ", ")
	}
	return reason
}
