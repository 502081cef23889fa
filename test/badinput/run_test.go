package badinput

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// timeout ends a run that hangs.
const timeout = time.Minute

// program is the path of the built program.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fresco-badinput-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Another user runs it too, see filesystem_test.go.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Join(dir, "fresco")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "./cmd/fresco")
	build.Dir = fixtures.Root()
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// A result is what a person sees of one run.
type result struct {
	code           int
	stdout, stderr string
}

// unchecked is said about every prompt that is no puzzle, as nearly all are here; it
// is left out.
const unchecked = "warning: this is no Sudoku grid; the answer is not checked\n"

// fresco runs the program with nothing on standard input. change, unless nil,
// may give it something else.
func fresco(t *testing.T, change func(*exec.Cmd), args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "FRESCO_") || strings.HasPrefix(variable, "NO_COLOR=")
	})
	command.WaitDelay = time.Second
	if change != nil {
		change(command)
	}
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("fresco %q: %v", args, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("fresco %q: still running after %v; standard error:\n%s", args, timeout, stderr.String())
	}
	r := result{command.ProcessState.ExitCode(), stdout.String(), strings.Replace(stderr.String(), unchecked, "", 1)}
	r.checkManners(t)
	return r
}

// exitCodes are those of docs/cli.md.
var exitCodes = []int{0, 1, 2, 3, 130}

// mess matches what belongs into no message: traces of a panic, slips of a
// format, control characters.
var mess = regexp.MustCompile(`panic|goroutine|runtime error|%!|<nil>|[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}]`)

// checkManners checks what holds for every run.
func (r result) checkManners(t *testing.T) {
	t.Helper()
	if !slices.Contains(exitCodes, r.code) {
		t.Errorf("exit code %d is none of %v", r.code, exitCodes)
	}
	if found := mess.FindString(r.stderr); found != "" {
		t.Errorf("standard error has %q:\n%s", found, r.stderr)
	}
	if !utf8.ValidString(r.stderr) {
		t.Errorf("standard error is not UTF-8: %q", r.stderr)
	}
	if r.stderr != "" && !strings.HasSuffix(r.stderr, "\n") {
		t.Errorf("standard error ends inside a line: %q", r.stderr)
	}
	if r.code != 0 && r.stderr == "" {
		t.Errorf("exit code %d without a word", r.code)
	}
}

// A want is what a run must come to. Without an answer nothing may be on standard
// output.
type want struct {
	code int
	// stderr is the error, which is the whole of standard error without the
	// "fresco: " before it and the newline at its end; the path of the model reads
	// MODEL.
	stderr string
	// like, in place of stderr, is a regular expression that standard error
	// matches as a whole.
	like string
	// answer says that there is an answer, whatever it is, and that standard
	// error has the line about it at its end.
	answer bool
	// notes are lines of standard error before that line, or before stderr.
	notes []string
}

// closing matches the line about an answer.
var closing = regexp.MustCompile(`\A1 canvas, \d+ denoising steps? \(.*\) · \d+ of \d+ tokens kept · .*\z`)

// setAside is said about every copy of the embedded checkpoint.
var setAside = []string{
	"note: vision tower: set aside, not used (tensors: 15)",
	"note: vision projector: set aside, not used (tensors: 1)",
}

// before puts notes before those of every copy.
func before(notes ...string) []string { return slices.Concat(notes, setAside) }

// after puts notes behind those of every copy.
func after(notes ...string) []string { return slices.Concat(setAside, notes) }

// check compares a run with what it must come to. model is the path that reads
// MODEL in texts, "" for none.
func (w want) check(t *testing.T, r result, model string) {
	t.Helper()
	got := strings.TrimSuffix(r.stderr, "\n")
	if model != "" {
		got = strings.ReplaceAll(got, model, "MODEL")
	}
	if r.code != w.code {
		t.Errorf("exit code %d, want %d; standard error:\n%s", r.code, w.code, got)
	}
	if (r.stdout != "") != w.answer {
		t.Errorf("standard output is %q", r.stdout)
	}
	switch {
	case w.answer:
		lines := strings.Split(got, "\n")
		last := len(lines) - 1
		if diff := cmp.Diff(w.notes, lines[:last], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
		if !closing.MatchString(lines[last]) {
			t.Errorf("the last line is %q", lines[last])
		}
	case w.like != "":
		if !regexp.MustCompile(`\A(?:` + w.like + `)\z`).MatchString(got) {
			t.Errorf("standard error does not match %s:\n%s", w.like, got)
		}
	default:
		text := strings.Join(append(slices.Clip(w.notes), "fresco: "+w.stderr), "\n")
		if w.code == 0 {
			text = w.stderr
		}
		if diff := cmp.Diff(text, got); diff != "" {
			t.Errorf("standard error (-want +got):\n%s", diff)
		}
	}
}

// quick makes an answer short; what it says is of no matter here.
var quick = []string{"--seed", "1", "--threads", "1", "--steps", "2", "--canvas", "8", "--max-tokens", "4"}

// A damaged checkpoint is a copy of the embedded one with something wrong.
type damaged struct {
	name  string
	edits []edit
	// args come after the name of the model; nil is a short prompt.
	args []string
	// inspected is the exit code of "fresco inspect", where it is not that of
	// the run: it does not look at the weights.
	inspected *int
	want
}

// runDamaged runs every case, and "fresco inspect" beside it.
func runDamaged(t *testing.T, cases []damaged) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := writeFolder(t, c.edits...)
			args := c.args
			if args == nil {
				args = []string{"hi"}
			}
			r := fresco(t, nil, slices.Concat([]string{"run", model}, quick, args)...)
			c.check(t, r, model)

			seen := fresco(t, nil, "inspect", model)
			code := c.code
			if c.inspected != nil {
				code = *c.inspected
			}
			if seen.code != code {
				t.Errorf("inspect: exit code %d, want %d; standard error:\n%s", seen.code, code, seen.stderr)
			}
		})
	}
}
