package badinput

import (
	"os/exec"
	"slices"
	"testing"
)

// Flags with values that mean nothing, and flags that contradict each other. All
// are refused before a model is loaded or a token is drawn.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want
	}{
		{"NaN temperature", []string{"--t-min", "NaN"}, want{code: 2, stderr: "--t-min: NaN is not a number\nRun \"fresco run --help\" to see what it takes."}},
		{"infinite temperature", []string{"--t-max", "inf"}, want{code: 2, stderr: "--t-max: inf must be at most 1000000\nRun \"fresco run --help\" to see what it takes."}},
		{"negative temperature", []string{"--t-min=-0.5"}, want{code: 2, stderr: "--t-min: -0.5 must be at least 0\nRun \"fresco run --help\" to see what it takes."}},
		{"zero temperature at the beginning", []string{"--t-max", "0"}, want{code: 2, stderr: "--t-max: 0 must be above 0\nRun \"fresco run --help\" to see what it takes."}},
		{"t-min above t-max", []string{"--t-min", "0.9", "--t-max", "0.5"}, want{code: 2, stderr: "--t-max: 0.5 is not above the 0.9 of --t-min"}},
		{"t-min above the checkpoint's t-max", []string{"--t-min", "0.9"}, want{code: 2, stderr: "--t-max: 0.8 is not above the 0.9 of --t-min"}},
		{"NaN entropy bound", []string{"--entropy-bound", "nan"}, want{code: 2, stderr: "--entropy-bound: NaN is not a number\nRun \"fresco run --help\" to see what it takes."}},
		{"zero entropy bound", []string{"--entropy-bound", "0"}, want{code: 2, stderr: "--entropy-bound: 0 must be above 0\nRun \"fresco run --help\" to see what it takes."}},
		{"entropy bound off", []string{"--entropy-bound", "off"}, want{code: 2, stderr: "--entropy-bound: \"off\" is not a number\nRun \"fresco run --help\" to see what it takes."}},
		{"entropy bound that rounds to nothing", []string{"--entropy-bound", "1e-60"}, want{code: 2, stderr: "--entropy-bound: 1e-60 is too small to tell from 0"}},
		{"confidence that rounds to nothing", []string{"--confidence", "1e-60"}, want{code: 2, stderr: "--confidence: 1e-60 is too small to tell from 0"}},
		{"guard entropy that rounds to off", []string{"--guard-entropy", "1e-60"}, want{code: 2, stderr: "--guard-entropy: 1e-60 is too small to tell from 0"}},
		{"top-p that rounds to everything", []string{"--mode", "ar", "--top-p", "1e-60"}, want{code: 2, stderr: "--top-p: 1e-60 is too small to tell from 0"}},
		{"huge entropy bound", []string{"--entropy-bound", "1e39"}, want{code: 2, stderr: "--entropy-bound: 1e39 must be at most 1000000\nRun \"fresco run --help\" to see what it takes."}},
		{"zero steps", []string{"--steps", "0"}, want{code: 2, stderr: "--steps: 0 must be at least 1\nRun \"fresco run --help\" to see what it takes."}},
		{"negative steps", []string{"--steps=-1"}, want{code: 2, stderr: "--steps: -1 must be at least 1\nRun \"fresco run --help\" to see what it takes."}},
		{"huge steps", []string{"--steps", "99999999999999999999"}, want{code: 2, stderr: "--steps: 99999999999999999999 must be at most 2147483647\nRun \"fresco run --help\" to see what it takes."}},
		{"steps beyond the addresses", []string{"--steps", "65536"}, want{code: 2, stderr: "--steps: 65536 is not in 1 … 65535"}},
		{"steps with a fraction", []string{"--steps", "1.5"}, want{code: 2, stderr: "--steps: \"1.5\" is not a whole number\nRun \"fresco run --help\" to see what it takes."}},
		{"max-steps above steps", []string{"--steps", "3", "--max-steps", "4"}, want{code: 2, stderr: "--max-steps 4 is above --steps 3; it can only stop earlier"}},
		{"max-steps above the checkpoint's steps", []string{"--max-steps", "49"}, want{code: 2, stderr: "--max-steps: 49 is above the 48 of steps, it can only stop earlier"}},
		{"stability with a fraction", []string{"--stability", "0.5"}, want{code: 2, stderr: "--stability: 0.5 is not a whole number\nRun \"fresco run --help\" to see what it takes."}},
		{"huge stability", []string{"--stability", "65536"}, want{code: 2, stderr: "--stability: 65536 is not in 0 … 65535"}},
		{"zero confidence", []string{"--confidence", "0"}, want{code: 2, stderr: "--confidence: 0 must be above 0\nRun \"fresco run --help\" to see what it takes."}},
		{"NaN guard entropy", []string{"--guard-entropy", "NaN"}, want{code: 2, stderr: "--guard-entropy: NaN is not a number\nRun \"fresco run --help\" to see what it takes."}},
		{"guard entropy without guards", []string{"--guard-entropy", "2", "--no-guards"}, want{code: 2, stderr: "--guard-entropy sets a guard that --no-guards switches off; give one of the two"}},
		{"zero tokens", []string{"--max-tokens", "0"}, want{code: 2, stderr: "--max-tokens: 0 must be at least 1\nRun \"fresco run --help\" to see what it takes."}},
		{"huge max-tokens", []string{"--max-tokens", "2147483647"}, want{code: 2, stderr: "--max-tokens: prompt 3 + --max-tokens 2,147,483,647 = 2,147,483,650 tokens; the model's limit is 1,024"}},
		{"max-tokens beyond all numbers", []string{"--max-tokens", "1e100"}, want{code: 2, stderr: "--max-tokens: \"1e100\" is not a whole number\nRun \"fresco run --help\" to see what it takes."}},
		{"canvas beyond the checkpoint's", []string{"--canvas", "97"}, want{code: 2, stderr: "--canvas: length 97 is not in 1 … 96"}},
		{"negative canvas", []string{"--canvas=-8"}, want{code: 2, stderr: "--canvas: -8 must be at least 1\nRun \"fresco run --help\" to see what it takes."}},
		{"zero threads", []string{"--threads", "0"}, want{code: 2, stderr: "--threads: 0 must be at least 1\nRun \"fresco run --help\" to see what it takes."}},
		{"huge threads", []string{"--threads", "1000000"}, want{code: 2, stderr: "--threads: 1000000 must be at most 1024\nRun \"fresco run --help\" to see what it takes."}},
		{"negative prefill chunk", []string{"--prefill-chunk=-1"}, want{code: 2, stderr: "--prefill-chunk: -1 must be at least 1\nRun \"fresco run --help\" to see what it takes."}},
		{"negative seed", []string{"--seed=-1"}, want{code: 2, stderr: "--seed: \"-1\" is not a whole number of at least 0\nRun \"fresco run --help\" to see what it takes."}},
		{"seed of 65 bits", []string{"--seed", "18446744073709551616"}, want{code: 2, stderr: "--seed: 18446744073709551616 must be at most 18446744073709551615\nRun \"fresco run --help\" to see what it takes."}},
		{"hexadecimal seed", []string{"--seed", "0x10"}, want{code: 2, stderr: "--seed: \"0x10\" is not a whole number of at least 0\nRun \"fresco run --help\" to see what it takes."}},
		{"unknown mode", []string{"--mode", "beam"}, want{code: 2, stderr: "--mode: \"beam\" is not one of diffusion, ar\nRun \"fresco run --help\" to see what it takes."}},
		{"unknown precision", []string{"--precision", "int4"}, want{code: 2, stderr: "--precision: \"int4\" is not one of exact, bf16\nRun \"fresco run --help\" to see what it takes."}},
		{"temperature in diffusion", []string{"--temperature", "0.7"}, want{code: 2, stderr: "--temperature: in diffusion mode it can only be 0 (argmax candidates); --t-min and --t-max set the temperature schedule"}},
		{"top-k in diffusion", []string{"--top-k", "5"}, want{code: 2, stderr: "--top-k: it filters autoregressive draws; the mode is diffusion"}},
		{"top-p in diffusion", []string{"--top-p", "0.9"}, want{code: 2, stderr: "--top-p: it filters autoregressive draws; the mode is diffusion"}},
		{"negative temperature in ar", []string{"--mode", "ar", "--temperature=-1"}, want{code: 2, stderr: "--temperature: -1 must be at least 0\nRun \"fresco run --help\" to see what it takes."}},
		{"temperature in ar that rounds to greedy", []string{"--mode", "ar", "--temperature", "1e-60"}, want{code: 2, stderr: "--temperature: 1e-60 is too small to tell from 0"}},
		{"huge temperature in ar", []string{"--mode", "ar", "--temperature", "1e39"}, want{code: 2, stderr: "--temperature: 1e39 must be at most 1000000\nRun \"fresco run --help\" to see what it takes."}},
		{"zero top-p", []string{"--mode", "ar", "--top-p", "0"}, want{code: 2, stderr: "--top-p: 0 must be above 0\nRun \"fresco run --help\" to see what it takes."}},
		{"top-p above 1", []string{"--mode", "ar", "--top-p", "1.01"}, want{code: 2, stderr: "--top-p: 1.01 must be at most 1\nRun \"fresco run --help\" to see what it takes."}},
		{"zero top-k", []string{"--mode", "ar", "--top-k", "0"}, want{code: 2, stderr: "--top-k: 0 must be at least 1\nRun \"fresco run --help\" to see what it takes."}},
		{"steps in ar", []string{"--mode", "ar", "--steps", "5"}, want{code: 2, stderr: "--steps: it steers diffusion; the mode is ar"}},
		{"canvas in ar", []string{"--mode", "ar", "--canvas", "5"}, want{code: 2, stderr: "--canvas: it steers diffusion; the mode is ar"}},
		{"guard entropy in ar", []string{"--mode", "ar", "--guard-entropy", "5"}, want{code: 2, stderr: "--guard-entropy: it steers diffusion; the mode is ar"}},
		{"empty stop text", []string{"--stop", ""}, want{code: 2, stderr: "--stop: it is empty"}},
		{"no value", []string{"--steps"}, want{code: 2, stderr: "--steps: the number is missing\nRun \"fresco run --help\" to see what it takes."}},
		{"empty value", []string{"--steps", ""}, want{code: 2, stderr: "--steps: the number is missing\nRun \"fresco run --help\" to see what it takes."}},
		{"value of a switch", []string{"--raw=maybe"}, want{code: 2, stderr: "--raw: bool value must be true, 1, yes, false, 0 or no but got \"maybe\"\nRun \"fresco run --help\" to see what it takes."}},
		{"unknown flag", []string{"--beam-size", "4"}, want{code: 2, stderr: "unknown flag --beam-size\nRun \"fresco run --help\" to see what it takes."}},
		{"misspelt flag", []string{"--stpes", "4"}, want{code: 2, stderr: "unknown flag --stpes, did you mean \"--steps\"?\nRun \"fresco run --help\" to see what it takes."}},
		{"one argument too many", []string{"surplus"}, want{code: 2, stderr: "unexpected argument surplus\nRun \"fresco run --help\" to see what it takes."}},
		{"flag that would clear the screen", []string{"--mode", "\x1b[2J"}, want{code: 2, stderr: "--mode: \"\\x1b[2J\" is not one of diffusion, ar\nRun \"fresco run --help\" to see what it takes."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, fresco(t, nil, slices.Concat([]string{"run", "sudoku", "hi"}, c.args)...), "")
		})
	}
}

// Other commands, and no command.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want
	}{
		{"unknown command", []string{"rnu"}, want{code: 2, stderr: "unexpected argument rnu, did you mean \"run\"?\nRun \"fresco --help\" to see what it takes."}},
		{"unknown model", []string{"run", "sudouk"}, want{code: 2, stderr: "unknown model \"sudouk\": neither an embedded model nor a folder; did you mean sudoku? (embedded: sudoku)"}},
		{"empty model", []string{"run", "", "hi"}, want{code: 2, stderr: "no model is named; it is an embedded one or a folder (embedded: sudoku)"}},
		{"model with a control character", []string{"run", "./a\x1b[2Jb", "hi"}, want{code: 1, stderr: "model folder ./a␛[2Jb: no such file or directory"}},
		{"inspect without a model", []string{"inspect"}, want{code: 2, stderr: "expected \"<model>\"\nRun \"fresco inspect --help\" to see what it takes."}},
		{"inspect of an unknown model", []string{"inspect", "nothing"}, want{code: 2, stderr: "unknown model \"nothing\": neither an embedded model nor a folder (embedded: sudoku)"}},
		{"inspect with a huge context", []string{"inspect", "sudoku", "--context", "9999999999999"}, want{code: 2, stderr: "--context: 9999999999999 must be at most 2147483647\nRun \"fresco inspect --help\" to see what it takes."}},
		{"inspect beyond the context", []string{"inspect", "sudoku", "--context", "1025"}, want{code: 2, stderr: "--context: 1,025 tokens; the model's limit is 1,024"}},
		{"eval without a task", []string{"eval"}, want{code: 2, stderr: "expected \"sudoku\"\nRun \"fresco eval --help\" to see what it takes."}},
		{"eval of nothing", []string{"eval", "sudoku", "--puzzles", "0"}, want{code: 2, stderr: "--puzzles: 0 must be at least 1\nRun \"fresco eval sudoku --help\" to see what it takes."}},
		{"eval with a broken bucket", []string{"eval", "sudoku", "--buckets", "55-46"}, want{code: 2, stderr: "--buckets: \"55-46\" is no range of clues such as 46-55 within 17-81"}},
		{"eval with too few clues", []string{"eval", "sudoku", "--buckets", "3-4"}, want{code: 2, stderr: "--buckets: \"3-4\" is no range of clues such as 46-55 within 17-81"}},
		{"completion for an unknown shell", []string{"completion", "tcsh"}, want{code: 2, stderr: "<shell>: \"tcsh\" is not one of bash, zsh, fish\nRun \"fresco completion --help\" to see what it takes."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, fresco(t, nil, c.args...), "")
		})
	}
}

// An unknown kernel class in the environment.
func TestEnvironment(t *testing.T) {
	r := fresco(t, func(command *exec.Cmd) { command.Env = append(command.Env, "FRESCO_CPU=warp") }, "run", "sudoku", "hi")
	want{code: 2, like: `fresco: kernel class "warp": no such class \(available here: .*\)`}.check(t, r, "")
}
