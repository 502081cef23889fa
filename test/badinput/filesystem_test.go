//go:build unix

package badinput

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user without rights.
const nobody = 65534

// unprivileged makes a run one of a user whom permissions bind.
func unprivileged(command *exec.Cmd) {
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// reachable lets other users come as far as a folder of t.TempDir.
func reachable(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// needUnprivileged skips where a user without rights cannot be had, or cannot
// come as far as the folders of the tests.
func needUnprivileged(t *testing.T) {
	t.Helper()
	dir := writeFolder(t)
	reachable(t, dir)
	command := exec.Command(program, "inspect", dir)
	unprivileged(command)
	if output, err := command.CombinedOutput(); err != nil {
		t.Skipf("running as user %d: %v\n%s", nobody, err, output)
	}
}

// Files that must not be read.
func TestPermissions(t *testing.T) {
	needUnprivileged(t)
	for file, w := range map[string]want{
		".":            {code: 1, stderr: "MODEL: stat config.json: permission denied"},
		weightsFile:    {code: 1, stderr: "safetensors: open MODEL/model.safetensors: permission denied"},
		configFile:     {code: 1, stderr: "MODEL: open config.json: permission denied"},
		generationFile: {code: 1, stderr: "MODEL: open generation_config.json: permission denied"},
		tokenizerFile:  {code: 1, stderr: "MODEL: open tokenizer.json: permission denied"},
		"prompt.json":  {code: 1, stderr: "MODEL: open prompt.json: permission denied"},
		secondShard:    {code: 1, stderr: "safetensors: open MODEL/model-00002-of-00002.safetensors: permission denied"},
		indexFile:      {code: 1, stderr: "safetensors: open MODEL/model.safetensors.index.json: permission denied"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var shards []edit
			if file == secondShard || file == indexFile {
				shards = append(shards, inShards(halves))
			}
			dir := writeFolder(t, shards...)
			reachable(t, dir)
			if err := os.Chmod(filepath.Join(dir, file), 0); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o755) // for the removal
			r := fresco(t, unprivileged, slices.Concat([]string{"run", dir, "hi"}, quick)...)
			w.check(t, r, dir)
		})
	}
	t.Run("infill", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		reachable(t, dir)
		path := filepath.Join(dir, "infill.txt")
		if err := os.WriteFile(path, []byte("12"), 0); err != nil {
			t.Fatal(err)
		}
		want{code: 1, stderr: "--infill: open MODEL/infill.txt: permission denied"}.check(t, fresco(t, unprivileged, "run", "sudoku", "hi", "--infill", path), dir)
	})
}

// Infill files that are none.
func TestInfillFiles(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		path string
		want
	}{
		"absent":         {"absent.txt", want{code: 1, stderr: "--infill: open MODEL/absent.txt: no such file or directory"}},
		"a folder":       {".", want{code: 1, stderr: "--infill: MODEL: is a directory"}},
		"below a device": {"/dev/null/infill", want{code: 1, stderr: "--infill: open /dev/null/infill: not a directory"}},
		"endless":        {"/dev/zero", want{code: 2, stderr: "--infill: /dev/zero: more than 67108864 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := c.path
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			c.check(t, fresco(t, nil, "run", "sudoku", "hi", "--infill", path), dir)
		})
	}
}

// A disk that is full. What was written before is not taken back, but nobody is
// told that all went well.
func TestFullDisk(t *testing.T) {
	for name, args := range map[string][]string{
		"run":         slices.Concat([]string{"run", "sudoku", "hi"}, quick),
		"run checked": {"run", "--seed", "1"},
		"run --json":  slices.Concat([]string{"run", "sudoku", "hi", "--json"}, quick),
		"run ar":      {"run", "sudoku", "hi", "--mode", "ar", "--max-tokens", "2"},
		"list":        {"list"},
		"list --json": {"list", "--json"},
		"inspect":     {"inspect", "sudoku"},
		"version":     {"version"},
		"completion":  {"completion", "bash"},
		"help":        {"run", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fresco(t, func(command *exec.Cmd) { command.Stdout = fullDevice(t) }, args...)
			want{code: 1, stderr: "standard output: no space left on device"}.check(t, r, "")
		})
	}
}

// A reader who has gone ends the program without a word.
func TestClosedPipe(t *testing.T) {
	for name, args := range map[string][]string{
		"run":     {"run", "--seed", "1", "--quiet"},
		"run ar":  {"run", "sudoku", "hi", "--mode", "ar", "--max-tokens", "5", "--quiet"},
		"inspect": {"inspect", "sudoku", "--tensors"},
		"help":    {"run", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			read.Close()
			defer write.Close()
			r := fresco(t, func(command *exec.Cmd) { command.Stdout = write }, args...)
			want{}.check(t, r, "")
		})
	}
}

// That nobody can read what is said about an answer is no reason to withhold it.
func TestFullStandardError(t *testing.T) {
	r := fresco(t, func(command *exec.Cmd) { command.Stderr = fullDevice(t) }, "run", "--seed", "1")
	if r.code != 0 || strings.Count(r.stdout, "\n") != 9 {
		t.Errorf("exit code %d, standard output:\n%s", r.code, r.stdout)
	}
}

// fullDevice is a file that nothing can be written to any more.
func fullDevice(t *testing.T) *os.File {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	t.Cleanup(func() { full.Close() })
	return full
}
