package fresco

import (
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/tokenizer"
)

// OpenOptions say how a model is to be run. nil is the default.
type OpenOptions struct {
	// Arithmetic is "exact" (fp32 activations and KV cache), "bf16" (the
	// official rounding points, bf16 KV cache), or "" for the default of the
	// weights and the machine, which Info reports.
	Arithmetic string
	// KernelClass names the class of kernels, for example "generic"; "" takes
	// the best that the machine has, or what the environment variable FRESCO_CPU
	// names.
	KernelClass string
	// Threads is the number of compute threads, at most 1024; 0 takes the physical
	// cores within the limits of the cgroup. It changes time, not answers.
	Threads int
	// Progress is called four times a second, from another goroutine, while
	// loading takes longer than a second.
	Progress func(LoadProgress)
}

// LoadProgress is how far loading is.
//
//	type LoadProgress struct {
//		Name    string
//		Bytes   int64 // size of the tensors, 0 while it is not known
//		Elapsed time.Duration
//	}
type LoadProgress = models.Progress

// A Model is loaded and ready. One Generate runs at a time: a second one on the
// same Model, from another goroutine or inside the loop of the first, is refused
// with ErrBusy. Models of the same checkpoint can run side by side. The other
// methods may be called at any time from any goroutine.
type Model struct {
	m       *models.Model
	running running
}

// Open loads the embedded model with this name, or the checkpoint in this folder
// or GGUF file. An embedded name wins over a path of the same name, which "./name"
// reaches.
//
// The error says which side is at fault: it is a *RequestError when an option
// cannot be honoured, wraps fs.ErrNotExist or fs.ErrPermission when the path
// cannot be read, and names the file and tensor when its content cannot be used.
func Open(nameOrPath string, o *OpenOptions) (*Model, error) {
	var options models.Options
	if o != nil {
		options = models.Options(*o)
	}
	m, err := models.Open(nameOrPath, options)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// Close releases the weights. While a Generate runs it does nothing and returns
// ErrBusy: cancel its context, or leave its loop, and close then. After Close,
// Generate, Answer and Validate return ErrClosed; a second Close does nothing.
func (m *Model) Close() error { return m.running.close(m.m.Close) }

// Info describes a loaded model.
type Info struct {
	// Name is the name or the path that it was opened by.
	Name string
	// Architecture is the model_type of config.json.
	Architecture string
	// Arithmetic and KernelClass are what computes, resolved.
	Arithmetic, KernelClass string
	Threads                 int
	// ContextLength is the limit of prompt and answer together, in tokens.
	ContextLength int
	// CanvasLength is that of the checkpoint, 0 when it cannot denoise.
	CanvasLength int
	VocabSize    int
	// HasTokenizer is false for a checkpoint without tokenizer.json: prompts and
	// answers are then token ids.
	HasTokenizer bool
	// PromptForm is "task", "turns", "raw", or "" without a tokenizer.
	PromptForm string
	// Notes say what of the checkpoint a person should know, one line each.
	Notes []string
}

// Info describes the model.
func (m *Model) Info() Info {
	config, can := m.m.Backend.Config(), m.m.Backend.Capabilities()
	info := Info{
		Name:         m.m.Name,
		Architecture: config.Architecture, Arithmetic: can.Arithmetic, KernelClass: can.KernelClass,
		Threads: can.Threads, ContextLength: config.MaxPositions, CanvasLength: config.CanvasLength,
		VocabSize: config.VocabSize, HasTokenizer: m.m.Tokenizer != nil, Notes: m.m.Notes,
	}
	if m.m.Form != nil {
		info.PromptForm = m.m.Form.Name()
	}
	return info
}

// Check says what is wrong with an answer to a prompt, "" for nothing. checked is
// false when that cannot be told: the checkpoint was not trained for a task whose
// answers can be checked, or the prompt is none of that task.
//
// Answer and Generate do not call it. Whoever wants a wrong answer drawn again
// asks for the next Attempt of the same seed, as the example does.
func (m *Model) Check(prompt, answer string) (problem string, checked bool) {
	task, is := m.m.Form.(interface {
		Check(prompt, answer string) (string, bool)
	})
	if !is {
		return "", false
	}
	return task.Check(prompt, answer)
}

// Assess says what is known about a prompt before it is answered. impossible is
// the reason why no answer can be right, "" when one can or when that cannot be
// told; note is what the person who asks should know, "" for nothing. Both are ""
// for a checkpoint that was not trained for a task.
func (m *Model) Assess(prompt string) (impossible, note string) {
	task, is := m.m.Form.(interface {
		Assess(prompt string) (impossible, note string)
	})
	if !is {
		return "", ""
	}
	return task.Assess(prompt)
}

// Token returns the text of one token id, as Draft and Committed name them, and
// whether it is a control token. A model without tokenizer has no texts.
func (m *Model) Token(id int32) (text string, control bool) {
	if m.m.Tokenizer == nil {
		return "", false
	}
	return m.m.Tokenizer.Decode([]int32{id}, false), m.m.Tokenizer.IsSpecial(id)
}

// EndTokens returns the ids that end an answer and the id that follows them; pad
// is -1 when the checkpoint names none.
func (m *Model) EndTokens() (end []int32, pad int32) {
	tokens := m.m.Backend.Config().Tokens
	return tokens.End, tokens.Pad
}

// Encode returns the token ids of a text with nothing added; nil without a
// tokenizer. Special tokens that the text spells out count.
func (m *Model) Encode(text string) []int32 {
	if m.m.Tokenizer == nil {
		return nil
	}
	return m.m.Tokenizer.Encode(text, tokenizer.EncodeOptions{})
}
