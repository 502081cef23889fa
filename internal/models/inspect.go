package models

import (
	"errors"
	"strings"

	"github.com/frescolm/fresco/internal/embedded"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/weights"
)

// An Entry is one line of the list of models.
type Entry struct {
	Name string `json:"name"`
	// About says in one line what the model is for.
	About string `json:"about"`
	// Bytes is the size of its tensors.
	Bytes int64 `json:"bytes"`
	// Default is true for the model that is taken when none is named.
	Default bool `json:"default"`
}

// List lists the embedded models in order of their names.
func List() ([]Entry, error) {
	list := []Entry{}
	for _, m := range embedded.List() {
		c, err := source{m.Name, true}.open()
		if err != nil {
			return nil, err
		}
		entry := Entry{Name: m.Name, About: title(m.Card), Default: m.Name == Default}
		for _, info := range c.Tensors() {
			entry.Bytes += info.Bytes
		}
		if err := c.Close(); err != nil {
			return nil, err
		}
		list = append(list, entry)
	}
	return list, nil
}

// title returns the heading of a model card without the model's name.
func title(card string) string {
	first, _, _ := strings.Cut(card, "\n")
	first = strings.TrimLeft(first, "# ")
	if _, about, ok := strings.Cut(first, ": "); ok {
		return about
	}
	return first
}

// An Inspection is what can be said about a checkpoint without loading it.
type Inspection struct {
	Name     string
	Embedded bool
	// Inspection is nil when config.json could not be understood. Its Plan is nil
	// and its Tensors are empty when the weights could not be read.
	*model.Inspection
	// TokenizerSize is the number of ids of the tokenizer, 0 without one.
	TokenizerSize int
	// NoTokenizer is true when there is no tokenizer.json, which is no problem.
	NoTokenizer bool
	// Form is the name of the prompt form, "" without a tokenizer.
	Form string
	// Notes are those of a Model.
	Notes []string
	// Problem is the reason why the checkpoint would be rejected, nil for none.
	Problem error
}

// Inspect looks at a checkpoint. One that would be rejected is described as far
// as it can be understood, with the reason as its Problem.
func Inspect(nameOrPath string) (*Inspection, error) {
	from, err := find(nameOrPath)
	if err != nil {
		return nil, err
	}
	var rejected *weights.RejectedError
	c, unopened := from.open()
	switch {
	case errors.As(unopened, &rejected) && !from.embedded:
		c = weights.OpenFiles(from.name)
	case unopened != nil:
		return nil, unopened
	}
	d, err := describe(c, from)
	if err != nil && !errors.As(err, &rejected) {
		if unopened != nil {
			err = unopened // a file, say, which has no other files to tell of
		}
		return nil, errors.Join(err, c.Close())
	}
	seen := &Inspection{
		Name: from.name, Embedded: from.embedded,
		Inspection: d.seen, Notes: d.notes, Problem: err,
	}
	switch {
	case unopened != nil && d.seen == nil:
		return nil, unopened // not even config.json says anything
	case unopened != nil:
		// Nothing is known about the tensors, which is not the same as none.
		seen.Problem, d.seen.Tensors, d.seen.Plan = unopened, weights.Report{}, nil
	case err == nil:
		seen.Problem = unusable(c.Name(), d.seen.Tensors)
	}
	seen.NoTokenizer = d.tokenizerRead && d.tokenizer == nil
	if d.tokenizer != nil {
		seen.TokenizerSize = d.tokenizer.Size()
	}
	if d.form != nil {
		seen.Form = d.form.Name()
	}
	return seen, c.Close()
}

// unusable returns the error with which loading would refuse the tensors.
func unusable(name string, r weights.Report) error {
	if len(r.Missing) == 0 && len(r.Wrong) == 0 {
		return nil
	}
	return &weights.RejectedError{Path: name, Err: &weights.MismatchError{Report: r}}
}
