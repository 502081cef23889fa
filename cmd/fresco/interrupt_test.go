//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// started is a program that has been told what to do through a pipe with a name:
// when the pipe is open at both ends, the program listens to signals.
type started struct {
	*exec.Cmd
	out, err bytes.Buffer
	infill   *os.File
}

func start(t *testing.T, args ...string) *started {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "infill")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	p := &started{Cmd: exec.Command("fresco", append([]string{"run", "sudoku", "PROMPT", "--infill", pipe}, args...)...)}
	p.Stdout, p.Stderr = &p.out, &p.err
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() }) // it has ended, unless the test failed
	var err error
	if p.infill, err = os.OpenFile(pipe, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.infill.Close() })
	return p
}

func (p *started) interrupt(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// code waits for the end.
func (p *started) code(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// Ctrl-C while a text is being read ends the program.
func TestInterruptWhileReading(t *testing.T) {
	p := start(t)
	p.interrupt(t)
	if code := p.code(t); code != exitInterrupted {
		t.Errorf("exit code %d, standard error: %s", code, &p.err)
	}
}

// Ctrl-C while a canvas is denoised stops between two steps and says so.
func TestInterruptBetweenSteps(t *testing.T) {
	p := start(t, "--stability", "off", "--steps", "60000")
	if _, err := p.infill.WriteString("⟦96⟧"); err != nil {
		t.Fatal(err)
	}
	if err := p.infill.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // most likely into the steps; before them is as good
	p.interrupt(t)
	if code := p.code(t); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if p.out.Len() != 0 {
		t.Errorf("an uncommitted canvas was printed: %q", &p.out)
	}
	if text := p.err.String(); !strings.Contains(text, "0 of ") || !strings.Contains(text, "interrupted; nothing was committed yet") || strings.Contains(text, "goroutine") {
		t.Errorf("standard error: %s", text)
	}
}

// Ctrl-C ends an evaluation with what has been measured until then.
func TestInterruptEval(t *testing.T) {
	p := exec.Command("fresco", "eval", "sudoku", "--puzzles", "20000", "--buckets", "80-81", "--mode", "diffusion", "--json")
	var out, errors bytes.Buffer
	p.Stdout, p.Stderr = &out, &errors
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() }) // it has ended, unless the test failed
	time.Sleep(time.Second)                    // most likely into the attempts; before them there is nothing to print
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	if code := p.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, &errors)
	}
	if text := errors.String(); !strings.HasPrefix(text, "interrupted: ") || !strings.Contains(text, " of 20000 puzzles, ") {
		t.Errorf("standard error: %q", text)
	}
	if out.Len() > 0 && !strings.Contains(out.String(), `"interrupted": true`) {
		t.Errorf("standard output: %.300s", &out)
	}
}
