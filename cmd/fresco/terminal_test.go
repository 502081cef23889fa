//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

// onTerminal runs the program on a terminal of its own and returns everything
// that it wrote there.
func onTerminal(t *testing.T, width, height uint16, environment []string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	p := exec.Command("fresco", args...)
	p.Stdin, p.Stdout, p.Stderr = terminal, terminal, terminal
	p.Env = append(os.Environ(), environment...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	_, _ = io.Copy(&written, master) // Linux ends the other side's output with EIO
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, written.String())
	}
	return written.String()
}

func TestLiveOnATerminal(t *testing.T) {
	const lastRow = "684512937"
	for name, test := range map[string]struct {
		environment   []string
		args          []string
		live, colours bool
	}{
		"colours":   {[]string{"TERM=xterm-256color", "NO_COLOR="}, nil, true, true},
		"no colour": {[]string{"TERM=xterm-256color", "NO_COLOR=1"}, nil, true, false},
		"dumb":      {[]string{"TERM=dumb"}, nil, false, false},
		"no live":   {[]string{"TERM=xterm"}, []string{"--no-live"}, false, false},
		"ar":        {[]string{"TERM=xterm"}, []string{"--mode", "ar"}, false, false},
		"quiet":     {[]string{"TERM=xterm"}, []string{"--quiet"}, false, false},
		"json":      {[]string{"TERM=xterm"}, []string{"--json"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := onTerminal(t, 80, 24, test.environment, append([]string{"run", "--seed", "7"}, test.args...)...)
			if live := strings.Contains(text, "step 1/48"); live != test.live {
				t.Errorf("live view: %v", live)
			}
			if colours := strings.Contains(text, "\x1b[1;32m"); colours != test.colours {
				t.Errorf("colours: %v", colours)
			}
			if strings.Count(text, ansi.HideCursor) != strings.Count(text, ansi.ShowCursor) {
				t.Error("the cursor is left hidden")
			}
			if !test.live && strings.Contains(text, "\x1b") {
				t.Errorf("escape sequences: %q", text)
			}
			if puzzle := strings.Contains(text, "6...1293."); puzzle != test.live {
				t.Errorf("the puzzle is shown: %v", puzzle)
			}
			if !strings.Contains(text, lastRow) || strings.Contains(text, "solved") == (name == "quiet") {
				t.Errorf("no answer: %q", text)
			}
		})
	}
}

// A terminal that is smaller than the canvas gets frames that fit.
func TestLiveOnASmallTerminal(t *testing.T) {
	text := onTerminal(t, 20, 7, []string{"TERM=xterm"}, "run", "--seed", "7")
	if !strings.Contains(text, "rows below") {
		t.Errorf("nothing says that rows are missing: %q", text)
	}
	if strings.Count(text, ansi.HideCursor) != strings.Count(text, ansi.ShowCursor) {
		t.Error("the cursor is left hidden")
	}
}
