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
	r := result{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
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

// A want is what a run must come to.
type want struct {
	code int
	// stdout is the whole of standard output.
	stdout string
	// stderr is the whole of standard error without the newline at its end and
	// the "fresco: " before an error; the name of the model folder reads MODEL.
	stderr string
	// like, in place of stderr, is a regular expression that standard error
	// matches as a whole; anyStdout says that standard output is an answer, of
	// which nothing is known.
	like      string
	anyStdout bool
}

// check compares a run on the model in the given folder with what it must come
// to.
func (w want) check(t *testing.T, r result, model string) {
	t.Helper()
	if r.code != w.code {
		t.Errorf("exit code %d, want %d; standard error:\n%s", r.code, w.code, r.stderr)
	}
	switch {
	case w.anyStdout && r.stdout == "":
		t.Error("standard output is empty")
	case !w.anyStdout:
		if diff := cmp.Diff(w.stdout, r.stdout); diff != "" {
			t.Errorf("standard output (-want +got):\n%s", diff)
		}
	}
	got := strings.TrimSuffix(r.stderr, "\n")
	if model != "" {
		got = strings.ReplaceAll(got, model, "MODEL")
	}
	if w.like != "" {
		if !regexp.MustCompile(`\A(?:` + w.like + `)\z`).MatchString(got) {
			t.Errorf("standard error does not match %s:\n%s", w.like, got)
		}
		return
	}
	if w.code != 0 {
		got = strings.TrimPrefix(got, "fresco: ")
	}
	if diff := cmp.Diff(w.stderr, got); diff != "" {
		t.Errorf("standard error (-want +got):\n%s", diff)
	}
}

// closing matches the last line of a run that gave an answer.
const closing = `\d+ canvas(es)?, \d+ denoising steps? .*`

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
