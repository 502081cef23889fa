package main

import (
	"encoding/json"
	"strconv"

	"github.com/frescolm/fresco/internal/liveview"
	"github.com/frescolm/fresco/internal/machine"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/pool"
	"github.com/frescolm/fresco/internal/weights"
)

// inspectCommand is "fresco inspect".
type inspectCommand struct {
	Model string `arg:"" help:"An embedded model, a checkpoint folder or a GGUF file."`

	Context      whole  `placeholder:"N" help:"Say what a run needs with N committed tokens. Default: 4096, or the model's limit."`
	Canvas       whole  `placeholder:"N" help:"Canvas length of that run. Default: the checkpoint's."`
	PrefillChunk whole  `placeholder:"N" help:"Prefill chunk of that run. Default: all at once."`
	Precision    choice `of:"exact,bf16" placeholder:"NAME" help:"Arithmetic of that run: exact or bf16. Default: exact."`
	Threads      whole  `max:"1024" placeholder:"N" help:"Threads of that run."`
	Tensors      bool   `help:"List every tensor by itself instead of by layers."`
	JSON         bool   `name:"json" help:"Print one JSON object, every tensor included."`
}

// Help is what "fresco inspect --help" says after the flags.
func (inspectCommand) Help() string {
	return `Nothing is loaded: the small files and the headers of the tensors are read. A checkpoint that would be rejected is described as far as it can be understood, and the exit code is 3.

Examples:

    fresco inspect sudoku
    fresco inspect ./checkpoint --context 32768
    fresco inspect model.gguf --tensors
    fresco inspect ./checkpoint --json`
}

// defaultContext is the context of the memory estimate, in tokens.
const defaultContext = 4096

// inspectReport is the object of "fresco inspect --json".
type inspectReport struct {
	Model        string            `json:"model"`
	Embedded     bool              `json:"embedded"`
	Usable       bool              `json:"usable"`
	Problem      string            `json:"problem"`
	Architecture string            `json:"architecture"`
	Dimensions   []dimensionReport `json:"dimensions"`
	Layers       []string          `json:"layers"`
	Parameters   int64             `json:"parameters"`
	Active       int64             `json:"active_parameters"`
	Precision    string            `json:"precision"` // of the KV cache and the memory
	KVBytes      int64             `json:"kv_bytes_per_token"`
	SlidingBytes int64             `json:"sliding_kv_bytes_per_token"`
	TokenizerIDs int               `json:"tokenizer_ids"`
	PromptForm   string            `json:"prompt_form"`
	Notes        []string          `json:"notes"`
	Tensors      []tensorReport    `json:"tensors"`
	Missing      []string          `json:"missing"`
	Wrong        []string          `json:"wrong"`
	Surplus      []string          `json:"surplus"`
	Aside        []asideReport     `json:"set_aside"`
	Memory       *memoryReport     `json:"memory"` // null when the tensors or the architecture are not known

	problem error
	// noTokenizer is true when the checkpoint has none, rather than a bad one.
	noTokenizer bool
}

type dimensionReport struct {
	Name string `json:"name"`
	// Value is a json.Number, or a text that says more than one number.
	Value any `json:"value"`
}

type tensorReport struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Bytes int64  `json:"bytes"`
	File  string `json:"file"`
}

type asideReport struct {
	Name    string `json:"name"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`

	prefixes []string // of the tensors' names
}

type memoryReport struct {
	Context    int          `json:"context"`
	Items      []memoryItem `json:"items"`
	TotalBytes int64        `json:"total_bytes"`
	// MachineBytes is what this process may use, AvailableBytes what of it is
	// free now; 0 where the system does not tell.
	MachineBytes   int64  `json:"machine_bytes"`
	AvailableBytes int64  `json:"available_bytes"`
	Source         string `json:"source"`
	Fits           string `json:"fits"` // yes, tight, no, unknown
}

type memoryItem struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Run describes a checkpoint.
func (i *inspectCommand) Run(c *console) error {
	seen, err := models.Inspect(i.Model)
	if err != nil {
		return err
	}
	if err := i.fits(seen); err != nil {
		return err
	}
	r := i.report(seen)
	if i.JSON {
		err = writeJSON(c.out, r)
	} else {
		text := r.text(i.Tensors)
		if c.out.terminal { // which gets no control sequences from a file
			text = liveview.Harmless(text)
		}
		_, err = c.out.Write([]byte(text))
	}
	if err != nil {
		return err
	}
	return r.problem
}

// fits refuses to plan a run that the model cannot make.
func (i *inspectCommand) fits(seen *models.Inspection) error {
	if seen.Inspection == nil {
		return nil
	}
	for _, f := range []struct {
		flag         string
		asked, limit int
	}{
		{"--context", i.Context.n, seen.Config.MaxPositions},
		{"--canvas", i.Canvas.n, seen.Config.CanvasLength},
	} {
		if f.asked > f.limit {
			return usage("%s: %s tokens; the model's limit is %s", f.flag, grouped(int64(f.asked)), grouped(int64(f.limit)))
		}
	}
	return nil
}

func (i *inspectCommand) report(seen *models.Inspection) *inspectReport {
	r := &inspectReport{
		Model: seen.Name, Embedded: seen.Embedded, Usable: seen.Problem == nil, problem: seen.Problem, noTokenizer: seen.NoTokenizer,
		TokenizerIDs: seen.TokenizerSize, PromptForm: seen.Form, Notes: append([]string{}, seen.Notes...),
		Dimensions: []dimensionReport{}, Layers: []string{}, Tensors: []tensorReport{},
		Missing: []string{}, Wrong: []string{}, Surplus: []string{}, Aside: []asideReport{},
	}
	if seen.Problem != nil {
		r.Problem = seen.Problem.Error()
	}
	if seen.Inspection == nil {
		return r
	}
	config := seen.Config
	r.Architecture, r.Parameters, r.Active = config.Architecture, config.Parameters, config.ActiveParameters
	r.Precision, r.KVBytes, r.SlidingBytes = "bf16", seen.KVBytesPerToken, seen.SlidingBytesPerToken
	if i.Precision != "bf16" { // an fp32 cache
		r.Precision, r.KVBytes, r.SlidingBytes = "exact", 2*r.KVBytes, 2*r.SlidingBytes
	}
	for _, d := range seen.Dimensions {
		value := any(d.Value)
		if _, err := strconv.ParseFloat(d.Value, 64); err == nil {
			value = json.Number(d.Value)
		}
		r.Dimensions = append(r.Dimensions, dimensionReport{d.Name, value})
	}
	for _, layer := range config.Layers {
		r.Layers = append(r.Layers, layer.Kind.String())
	}
	r.tensors(seen.Tensors)
	if seen.Plan != nil {
		r.Memory = i.memory(seen)
	}
	return r
}

func (r *inspectReport) tensors(found weights.Report) {
	for _, t := range found.Found {
		r.Tensors = append(r.Tensors, tensorReport{t.Name, t.Type, append([]int{}, t.Shape...), t.Bytes, t.File})
	}
	for _, m := range found.Missing {
		r.Missing = append(r.Missing, m.Slot.Name)
	}
	for _, w := range found.Wrong {
		r.Wrong = append(r.Wrong, w.String())
	}
	r.Surplus = append(r.Surplus, found.Surplus...)
	for _, g := range found.Aside {
		if g.Count > 0 {
			r.Aside = append(r.Aside, asideReport{g.Name, g.Count, g.Bytes, g.Prefix})
		}
	}
}

// memory says what a run needs and whether this machine has it.
func (i *inspectCommand) memory(seen *models.Inspection) *memoryReport {
	context := i.Context.n
	if context == 0 {
		context = min(defaultContext, seen.Config.MaxPositions)
	}
	threads := i.Threads.n
	if threads == 0 {
		threads = pool.Cores()
	}
	plan := seen.Plan(
		model.MemoryRequest{Context: context, Canvas: i.Canvas.n, PrefillChunk: i.PrefillChunk.n},
		model.LoadOptions{Arithmetic: string(i.Precision), Threads: threads})
	m := &memoryReport{Context: context, TotalBytes: plan.Total(), Items: []memoryItem{}}
	for _, item := range plan.Items {
		m.Items = append(m.Items, memoryItem(item))
	}
	m.MachineBytes, m.AvailableBytes, m.Source = machine.Memory()
	switch {
	case m.MachineBytes == 0:
		m.Fits = "unknown"
	case m.TotalBytes > m.MachineBytes:
		m.Fits = "no"
	case m.TotalBytes > m.AvailableBytes:
		m.Fits = "tight"
	default:
		m.Fits = "yes"
	}
	return m
}
