package diffusion

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected output of the scripts in testdata")

// TestScripts runs the scripts under testdata. A script is a sequence of blocks:
//
//	# Comments, which explain why.
//	command name=value name=value flag
//	row of numbers
//	----
//	expected output
//
// and a blank line after each. The commands are those of runner.run. With
// -rewrite the expected output is replaced by what the program says.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no scripts in testdata")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{}
	var out strings.Builder
	blocks := 0
	for i, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		if i > 0 {
			out.WriteString("\n")
		}
		head, want, isCommand := strings.Cut(block+"\n", "----\n")
		out.WriteString(head)
		if !isCommand {
			continue
		}
		blocks++
		var lines []string
		for line := range strings.Lines(head) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		if len(lines) == 0 {
			t.Fatalf("%s: a block without a command:\n%s", file, block)
		}
		got := r.run(t, lines[0], lines[1:])
		out.WriteString("----\n" + got)
		if diff := cmp.Diff(want, got); diff != "" && !*rewrite {
			t.Errorf("%s: %s\nexpected (-) and got (+):\n%s", file, lines[0], diff)
		}
	}
	if blocks == 0 {
		t.Fatalf("%s holds no command", file)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A runner is the state of one script.
type runner struct {
	settings Settings
	answer   Answer
	injected *scripted // nil: draw with Philox
	noise    int
	sampler  *Sampler
}

// scripted draws are given by the script.
type scripted struct{ initial, renoise []int32 }

func (s *scripted) ID(at canvas.Address) int32 {
	if at.Purpose == canvas.PurposeInitial {
		return s.initial[at.Position]
	}
	return s.renoise[at.Position]
}

// run maps a command to calls and describes what came of them.
func (r *runner) run(t *testing.T, line string, rows []string) string {
	t.Helper()
	words := strings.Fields(line)
	args := arguments(t, words[1:])
	var out string
	switch words[0] {
	case "settings":
		// settings steps=3 t-min=0.4 t-max=0.8 bound=0.1 stability=1 confidence=0.05
		//
		// Numbers not named are the official defaults; "off" switches off.
		out = r.setUp(t, args)
	case "temperatures":
		// temperatures 48 24 1
		//
		// The temperature with so many steps remaining.
		for _, word := range words[1:] {
			cur, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			out += fmt.Sprintf("cur %-3d %.7g\n", cur, r.settings.Temperature(cur))
		}
		return out
	case "answer":
		// answer seed=7 choice=0 attempt=0 ids=320
		//
		// Draws come from the addresses of this answer, over so many ids.
		r.answer = Answer{Seed: uint64(args.integer(t, "seed", 0)), Choice: args.integer(t, "choice", 0), Attempt: args.integer(t, "attempt", 0)}
		r.noise = args.integer(t, "ids", 0)
		r.injected, r.sampler = nil, nil
		out = "ok\n"
	case "begin":
		// begin index=0 length=4 initial=3,4,0,2 pinned=1:7,2:9 redraw
		//
		// initial gives the draws of the fresh canvas; without it they come from
		// the answer's addresses.
		out = r.begin(t, args)
	case "step":
		// step
		// entropy 0.1 0.2        or, one row a position:  logits 9 1 0
		// argmax  5   6                                   logits 1 1 1
		// sample  5   7                                   u 0.3 0.9
		// renoise 8   9
		//
		// A denoising step: what the model said, and what was drawn. With logits
		// the runner computes entropy, argmax and sample (inverse CDF at u).
		out = r.denoise(t, rows)
	case "finalize":
		// finalize canvas=5,1,7 end=1,106 pad=0 total=9 max=8 finished
		out = finalize(t, args)
	default:
		t.Fatalf("unknown command %q", words[0])
	}
	args.allUsed(t, line)
	return out
}

func (r *runner) setUp(t *testing.T, args argumentMap) string {
	r.settings = Settings{
		Steps:        args.integer(t, "steps", 48),
		MaxSteps:     args.integer(t, "max-steps", 0),
		EntropyBound: float32(args.number(t, "bound", 0.1)),
	}
	if r.settings.TemperatureOff = args.isOff("temperature"); !r.settings.TemperatureOff {
		r.settings.TMin, r.settings.TMax = args.number(t, "t-min", 0.4), args.number(t, "t-max", 0.8)
	}
	if r.settings.StabilityOff = args.isOff("stability"); !r.settings.StabilityOff {
		r.settings.Stability = args.integer(t, "stability", 1)
	}
	if r.settings.ConfidenceOff = args.isOff("confidence"); !r.settings.ConfidenceOff {
		r.settings.Confidence = float32(args.number(t, "confidence", 0.005))
	}
	r.sampler = nil
	if err := r.settings.Validate(); err != nil {
		return fmt.Sprintln("error:", err)
	}
	return "ok\n"
}

func (r *runner) begin(t *testing.T, args argumentMap) string {
	c := Canvas{Index: args.integer(t, "index", 0), Length: args.integer(t, "length", 0), Redraw: args.flag("redraw")}
	if list := args.take("pinned"); list != "" {
		c.Cells = make([]canvas.Cell, c.Length)
		for _, pair := range strings.Split(list, ",") {
			var position int
			var id int32
			if _, err := fmt.Sscanf(pair, "%d:%d", &position, &id); err != nil {
				t.Fatalf("pinned=%s: %v", pair, err)
			}
			c.Cells[position] = canvas.Cell{Kind: canvas.Pinned, ID: id}
		}
	}
	if list := args.take("initial"); list != "" {
		r.injected = &scripted{initial: ids(t, strings.Split(list, ","))}
	}
	if r.sampler == nil {
		var draws Draws = r.injected
		if r.injected == nil {
			philox, err := NewPhilox(canvas.Noise{Count: r.noise})
			if err != nil {
				return fmt.Sprintln("error:", err)
			}
			draws = philox
		}
		sampler, err := New(r.settings, r.answer, draws)
		if err != nil {
			return fmt.Sprintln("error:", err)
		}
		r.sampler = sampler
	} else if r.injected != nil {
		r.sampler.draws = r.injected
	}
	start, err := r.sampler.Begin(c)
	if err != nil {
		return fmt.Sprintln("error:", err)
	}
	out := "canvas " + joined(start) + "\n"
	if r.sampler.Stopped() != NotStopped {
		out += fmt.Sprintf("stop   %v; emitted %s\n", r.sampler.Stopped(), joined(r.sampler.Best()))
	}
	return out
}

func (r *runner) denoise(t *testing.T, rows []string) string {
	pass, err := r.sampler.Step()
	if err != nil {
		return fmt.Sprintln("error:", err)
	}
	stats, shown := r.statistics(t, rows, len(pass.IDs), pass.Temperature)
	d, err := r.sampler.Observe(stats)
	if err != nil {
		return fmt.Sprintln("error:", err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "cur %d, temperature %.6g\n", r.settings.Steps-d.Index, d.Temperature)
	out.WriteString(shown)
	var sum float32
	out.WriteString("sums     ")
	for _, i := range r.sampler.order {
		sum += r.sampler.entropy[i]
		fmt.Fprintf(&out, " %d:%.6f", i, sum-r.sampler.entropy[i])
	}
	fmt.Fprintf(&out, "\naccepted  %s\n", marked(d.Accepted))
	fmt.Fprintf(&out, "renoised  %s\n", marked(d.Renoised))
	fmt.Fprintf(&out, "next      %s\n", joined(d.Next))
	fmt.Fprintf(&out, "best      %s\n", joined(d.Best))
	fmt.Fprintf(&out, "mean      %.6f  stable %s  confident %s\n", d.MeanEntropy, yes(d.Stable), yes(d.Confident))
	if d.Stop != NotStopped {
		fmt.Fprintf(&out, "stop      %v; emitted %s\n", d.Stop, joined(r.sampler.Best()))
	}
	return out.String()
}

// statistics reads the rows of a step. The second result shows what was computed
// from logits.
func (r *runner) statistics(t *testing.T, rows []string, length int, temperature float32) ([]canvas.Stats, string) {
	t.Helper()
	stats := make([]canvas.Stats, length)
	var logits [][]float64
	var uniforms []float64
	for _, row := range rows {
		words := strings.Fields(row)
		values := words[1:]
		if words[0] != "logits" && len(values) != length {
			t.Fatalf("%q has %d values for %d positions", row, len(values), length)
		}
		switch words[0] {
		case "logits":
			logits = append(logits, numbers(t, values))
		case "u":
			uniforms = numbers(t, values)
		case "entropy":
			for i, h := range numbers(t, values) {
				stats[i].Entropy = float32(h)
			}
		case "argmax":
			for i, id := range ids(t, values) {
				stats[i].Argmax = id
			}
		case "sample":
			for i, id := range ids(t, values) {
				stats[i].Sample = id
			}
		case "renoise":
			r.injected.renoise = ids(t, values)
		default:
			t.Fatalf("unknown row %q", row)
		}
	}
	if logits == nil {
		return stats, ""
	}
	if len(logits) != length || len(uniforms) != length {
		t.Fatalf("%d rows of logits and %d uniform numbers for %d positions", len(logits), len(uniforms), length)
	}
	shown, sampled := "entropy  ", "sampled  "
	for i, row := range logits {
		for j := range row {
			row[j] /= float64(temperature)
		}
		p, entropy := softmax(row)
		stats[i] = canvas.Stats{Argmax: int32(argmax(row)), Entropy: float32(entropy), Sample: int32(inverseCDF(p, uniforms[i]))}
		shown += fmt.Sprintf(" %.6f", entropy)
		sampled += fmt.Sprintf(" %d", stats[i].Sample)
	}
	return stats, shown + "\n" + sampled + "\n"
}

func finalize(t *testing.T, args argumentMap) string {
	var ending Ending
	if list := args.take("end"); list != "" {
		ending.IDs = ids(t, strings.Split(list, ","))
	}
	if pad := args.take("pad"); pad != "" {
		ending.HasPad, ending.Pad = true, ids(t, []string{pad})[0]
	}
	ending.MaxLength = args.integer(t, "max", 0)
	tokens := ids(t, strings.Split(args.take("canvas"), ","))
	finished := ending.Finalize(tokens, args.integer(t, "total", len(tokens)), args.flag("finished"))
	return fmt.Sprintf("final    %s\nfinished %s\n", joined(tokens), yes(finished))
}

// An argumentMap holds the arguments of a command that were not yet taken.
type argumentMap map[string]string

func arguments(t *testing.T, words []string) argumentMap {
	t.Helper()
	args := argumentMap{}
	for _, word := range words {
		name, value, given := strings.Cut(word, "=")
		if !given {
			value = "yes"
		}
		if _, twice := args[name]; twice {
			t.Fatalf("argument %q twice", name)
		}
		args[name] = value
	}
	return args
}

func (a argumentMap) take(name string) string {
	value := a[name]
	delete(a, name)
	return value
}

func (a argumentMap) flag(name string) bool { return a.take(name) == "yes" }

// isOff takes an argument when it is "off".
func (a argumentMap) isOff(name string) bool {
	if a[name] != "off" {
		return false
	}
	delete(a, name)
	return true
}

func (a argumentMap) number(t *testing.T, name string, otherwise float64) float64 {
	t.Helper()
	value := a.take(name)
	if value == "" {
		return otherwise
	}
	return numbers(t, []string{value})[0]
}

func (a argumentMap) integer(t *testing.T, name string, otherwise int) int {
	t.Helper()
	value := a.take(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func (a argumentMap) allUsed(t *testing.T, line string) {
	t.Helper()
	for name := range a {
		t.Errorf("%q: unknown argument %q", line, name)
	}
}

func numbers(t *testing.T, words []string) []float64 {
	t.Helper()
	values := make([]float64, len(words))
	for i, word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		values[i] = v
	}
	return values
}

func ids(t *testing.T, words []string) []int32 {
	t.Helper()
	values := make([]int32, len(words))
	for i, word := range words {
		v, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		values[i] = int32(v)
	}
	return values
}

func joined(ids []int32) string { return strings.Trim(fmt.Sprint(ids), "[]") }

// marked lists the positions that are set.
func marked(mask []bool) string {
	var positions []int32
	for i, set := range mask {
		if set {
			positions = append(positions, int32(i))
		}
	}
	if positions == nil {
		return "none"
	}
	return joined(positions)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// softmax returns the distribution of a row of logits and its entropy in nats.
func softmax(logits []float64) (p []float64, entropy float64) {
	top := logits[argmax(logits)]
	sum := 0.0
	for _, z := range logits {
		sum += math.Exp(z - top)
	}
	logSum := top + math.Log(sum)
	p = make([]float64, len(logits))
	for i, z := range logits {
		p[i] = math.Exp(z - logSum)
		if p[i] > 0 {
			entropy -= p[i] * (z - logSum)
		}
	}
	return p, entropy
}

func argmax(row []float64) int {
	best := 0
	for i, v := range row {
		if v > row[best] {
			best = i
		}
	}
	return best
}

func inverseCDF(p []float64, u float64) int {
	for i := range p {
		if u -= p[i]; u < 0 {
			return i
		}
	}
	return len(p) - 1
}
