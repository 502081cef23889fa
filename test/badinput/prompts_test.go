package badinput

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Prompts that cannot be answered.
func TestPrompts(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		stdin string
		// plain leaves out what makes answers quick.
		plain bool
		want
	}{
		{name: "empty", args: []string{""}, want: want{code: 2, stderr: "PROMPT is empty"}},
		{name: "empty on standard input", args: []string{"-"}, want: want{code: 2, stderr: "PROMPT: standard input is empty"}},
		{name: "empty with --raw", args: []string{"", "--raw"}, want: want{answer: true}},
		{name: "too long", args: []string{strings.Repeat("1", 2000)}, plain: true, want: want{code: 2, stderr: "PROMPT: prompt 2,001 + 1 for an answer = 2,002 tokens; the model's limit is 1,024"}},
		{name: "too long with max-tokens", args: []string{strings.Repeat("1", 1000), "--max-tokens", "100"}, plain: true, want: want{code: 2, stderr: "--max-tokens: prompt 1,001 + --max-tokens 100 = 1,101 tokens; the model's limit is 1,024"}},
		{name: "too long on standard input", args: []string{"-"}, stdin: strings.Repeat("many words ", 20_000), plain: true, want: want{code: 2, stderr: "PROMPT: prompt 220,001 + 1 for an answer = 220,002 tokens; the model's limit is 1,024"}},
		{name: "NUL bytes", args: []string{"-"}, stdin: "a\x00b", want: want{answer: true}},
		{name: "no UTF-8", args: []string{"a\xff\xfeb"}, want: want{answer: true}},
		{name: "no UTF-8 on standard input", args: []string{"-"}, stdin: "a\xff\xfeb\x80", want: want{answer: true}},
		{name: "half a character", args: []string{"\xe2\x9f"}, want: want{answer: true}},
		{name: "beginning with a dash", args: []string{"-5"}, want: want{code: 2, stderr: "unknown flag -5; a PROMPT that begins with \"-\" goes after \"--\"\nRun \"fresco run --help\" to see what it takes."}},
		{name: "ids beyond the table", args: []string{"--ids", "2,384"}, want: want{code: 2, stderr: "--ids: id 384 at index 1 is not in 0 … 383"}},
		{name: "ids negative", args: []string{"--ids=2,-3"}, want: want{code: 2, stderr: "--ids: entry 2, \"-3\", is not a token id\nRun \"fresco run --help\" to see what it takes."}},
		{name: "ids that are no numbers", args: []string{"--ids", "2,five"}, want: want{code: 2, stderr: "--ids: entry 2, \"five\", is not a token id\nRun \"fresco run --help\" to see what it takes."}},
		{name: "ids of more than 32 bits", args: []string{"--ids", "2,4294967298"}, want: want{code: 2, stderr: "--ids: entry 2, \"4294967298\", is not a token id\nRun \"fresco run --help\" to see what it takes."}},
		{name: "ids empty", args: []string{"--ids", ""}, want: want{code: 2, stderr: "--ids: entry 1, \"\", is not a token id\nRun \"fresco run --help\" to see what it takes."}},
		{name: "ids with a hole", args: []string{"--ids", "2,,3"}, want: want{code: 2, stderr: "--ids: entry 2, \"\", is not a token id\nRun \"fresco run --help\" to see what it takes."}},
		{name: "ids and a prompt", args: []string{"hi", "--ids", "2,3"}, want: want{code: 2, stderr: "--ids takes the place of PROMPT; give one of the two"}},
		{name: "ids too many", args: []string{"--ids", strings.TrimSuffix(strings.Repeat("7,", 1024), ",")}, plain: true, want: want{code: 2, stderr: "--ids: prompt 1,024 + 1 for an answer = 1,025 tokens; the model's limit is 1,024"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"run", "sudoku"}, c.args...)
			if !c.plain {
				args = append(args, quick...)
			}
			c.check(t, fresco(t, func(command *exec.Cmd) { command.Stdin = strings.NewReader(c.stdin) }, args...), "")
		})
	}
}

// Infill texts that fit no canvas.
func TestInfills(t *testing.T) {
	for _, c := range []struct {
		name, text string
		args       []string
		want
	}{
		{name: "empty", text: "", want: want{code: 2, stderr: "--infill: the text is empty"}},
		{name: "only a line end", text: "\n", want: want{code: 2, stderr: "--infill: the text is empty"}},
		{name: "unclosed hole", text: "12⟦3", want: want{code: 2, stderr: "--infill: character 3 (byte 2): ⟦ is never closed (write ⟦⟦ for the bracket itself)"}},
		{name: "hole closed twice", text: "12⟦3⟧⟧", want: want{code: 2, stderr: "--infill: character 6 (byte 9): ⟧ without a hole before it (write ⟧⟧ for the bracket itself)"}},
		{name: "hole of none", text: "12⟦0⟧", want: want{code: 2, stderr: "--infill: character 3 (byte 2): a hole of 0 positions"}},
		{name: "hole of a letter", text: "12⟦x⟧", want: want{code: 2, stderr: "--infill: character 3 (byte 2): a hole holds a number of positions, not \"x\""}},
		{name: "hole of a negative number", text: "⟦-1⟧", want: want{code: 2, stderr: "--infill: character 1 (byte 0): a hole holds a number of positions, not \"-1\""}},
		{name: "hole of too many", text: "⟦99999999999999999999⟧", want: want{code: 2, stderr: "--infill: character 1 (byte 0): a hole of 99999999999999999999 positions: more than 1000000"}},
		{name: "hole beyond the canvas", text: "12⟦95⟧", want: want{code: 2, stderr: "--infill: 97 positions for a canvas of 96"}},
		{name: "text longer than the canvas", text: strings.Repeat("123456789\n", 10), want: want{code: 2, stderr: "--infill: 99 positions for a canvas of 96"}},
		{name: "no UTF-8", text: "12\xff", want: want{code: 2, stderr: "--infill: the text is not UTF-8"}},
		{name: "in mode ar", text: "12⟦3⟧", args: []string{"--mode", "ar"}, want: want{code: 2, stderr: "--infill needs diffusion mode; --mode ar cannot fill holes"}},
		{name: "shorter canvas", text: "12⟦3⟧", args: []string{"--canvas", "4"}, want: want{code: 2, stderr: "--infill: 5 positions for a canvas of 4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "infill.txt")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			c.check(t, fresco(t, nil, slices.Concat([]string{"run", "sudoku", "hi", "--infill", path}, c.args)...), "")
			onInput := fresco(t, func(command *exec.Cmd) { command.Stdin = strings.NewReader(c.text) },
				slices.Concat([]string{"run", "sudoku", "hi", "--infill", "-"}, c.args)...)
			c.check(t, onInput, "")
		})
	}
}
