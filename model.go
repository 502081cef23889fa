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
	// Threads is the number of compute threads; 0 takes the physical cores
	// within the limits of the cgroup. It changes time, not answers.
	Threads int
	// Progress is called four times a second, from another goroutine, while
	// loading takes longer than a second.
	Progress func(LoadProgress)
}

// LoadProgress is how far loading is.
type LoadProgress = models.Progress

// A Model is loaded and ready. One Generate runs at a time.
type Model struct{ m *models.Model }

// Open loads the embedded model with this name, or the checkpoint in this folder
// or GGUF file. An embedded name wins over a path of the same name, which "./name"
// reaches.
//
// The error says which of the two sides is at fault: it wraps fs.ErrNotExist or
// fs.ErrPermission when the path cannot be read, and names the file and tensor
// when its content cannot be used.
func Open(nameOrPath string, o *OpenOptions) (*Model, error) {
	var options models.Options
	if o != nil {
		options = models.Options(*o)
	}
	m, err := models.Open(nameOrPath, options)
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}

// Close releases the weights. No Generate may be running.
func (m *Model) Close() error { return m.m.Close() }

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

// Check says what is wrong with an answer to a prompt, "" for nothing. ok is
// false when that cannot be told: the checkpoint was not trained for a task whose
// answers can be checked, or the prompt is none of that task.
func (m *Model) Check(prompt, answer string) (problem string, ok bool) {
	task, is := m.m.Form.(interface {
		Check(prompt, answer string) (string, bool)
	})
	if !is {
		return "", false
	}
	return task.Check(prompt, answer)
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
