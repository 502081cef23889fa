package models

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/jsonfile"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/tokenizer"
)

// A description is what the small files of a checkpoint and the headers of its
// tensors say.
type description struct {
	architecture model.Architecture
	seen         *model.Inspection
	tokenizer    *tokenizer.Tokenizer
	// tokenizerRead is true when tokenizer is as the folder has it: nil for none.
	tokenizerRead bool
	// tokens is nil when every row of the embedding has a token.
	tokens []int32
	form   chat.Form
	notes  []string
}

// describe reads a checkpoint without loading its weights. The description holds
// what was understood until an error came up.
func describe(c *weights.Checkpoint, from source) (d description, err error) {
	reject := func(err error) (description, error) {
		return d, &weights.RejectedError{Path: c.Name(), Err: err}
	}
	if d.architecture, err = architectureOf(c); err != nil {
		return d, err
	}
	if d.seen, err = d.architecture.Inspect(c); err != nil {
		return d, err
	}
	d.noteUnused(from)
	if d.tokenizer, err = openTokenizer(c); err != nil {
		return d, err
	}
	d.tokenizerRead = true
	if d.tokenizer == nil {
		d.note("no " + tokenizerSource(c) + ": prompts and answers are token ids")
	}
	var note string
	if d.tokens, note, err = assigned(d.tokenizer, tokenizerSource(c), d.seen.Config.VocabSize); err != nil {
		return reject(err)
	}
	d.note(note)
	if err := checkSpecial(c, d.tokenizer, d.seen.Config.VocabSize); err != nil {
		return d, err
	}
	if d.tokenizer != nil {
		if d.form, note, err = chat.Choose(d.tokenizer, promptFiles(c)); err != nil {
			return d, ofContent(c, err)
		}
		d.note(note)
	}
	return d, nil
}

// ofContent marks an error as one of the checkpoint's content, unless it is that
// already, or one of the file system.
func ofContent(c *weights.Checkpoint, err error) error {
	var rejected *weights.RejectedError
	var system *fs.PathError
	if errors.As(err, &rejected) || errors.As(err, &system) {
		return err
	}
	return &weights.RejectedError{Path: c.Name(), Err: err}
}

func (d *description) note(text string) {
	if text != "" {
		d.notes = append(d.notes, text)
	}
}

// noteUnused tells what of the checkpoint plays no part. What an embedded model
// carries along is described in its model card.
func (d *description) noteUnused(from source) {
	if n := len(d.seen.Tensors.Surplus); n > 0 {
		text := "1 surplus tensor is not used: "
		if n > 1 {
			text = fmt.Sprintf("%d surplus tensors are not used, the first of them ", n)
		}
		d.note(text + weights.Show(d.seen.Tensors.Surplus[0]))
	}
	for _, group := range d.seen.Tensors.Aside {
		if group.Count > 0 && !from.embedded {
			d.note(fmt.Sprintf("%s: set aside, not used (tensors: %d)", group.Name, group.Count))
		}
	}
	if d.seen.Config == nil {
		return
	}
	for _, key := range d.seen.Config.Generation.Ignored {
		d.note("generation_config.json: " + weights.Show(key) + " has no meaning here and is ignored")
	}
}

// architectureOf resolves the model_type of config.json, or what a GGUF file has
// in its place.
func architectureOf(c *weights.Checkpoint) (model.Architecture, error) {
	if file := c.GGUF(); file != nil {
		return ggufArchitecture(c, file)
	}
	reject := func(err error) (model.Architecture, error) {
		return model.Architecture{}, &weights.RejectedError{Path: c.Name(), Err: fmt.Errorf("config.json: %w", err)}
	}
	data, err := c.ReadFile("config.json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reject(errors.New("the file is missing; a model folder has one"))
	case err != nil:
		return model.Architecture{}, err
	}
	var config struct {
		ModelType *string `json:"model_type"`
	}
	if err := jsonfile.Unmarshal(data, &config); err != nil {
		return reject(err)
	}
	if config.ModelType == nil {
		return reject(errors.New("model_type is missing"))
	}
	architecture, err := registry.Lookup(*config.ModelType)
	if err != nil {
		return reject(err)
	}
	return architecture, nil
}

// openTokenizer loads tokenizer.json, or the tokenizer in a GGUF file; nil when
// there is none.
func openTokenizer(c *weights.Checkpoint) (*tokenizer.Tokenizer, error) {
	if file := c.GGUF(); file != nil {
		tok, err := ggufTokenizer(file)
		if err != nil {
			return nil, &weights.RejectedError{Path: c.Name(), Err: err}
		}
		return tok, nil
	}
	data, err := c.ReadFile("tokenizer.json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	tok, err := tokenizer.Load(data)
	if err != nil {
		return nil, &weights.RejectedError{Path: c.Name(), Err: err}
	}
	return tok, nil
}

// stored adds up the bytes of all tensors.
func stored(r weights.Report) int64 {
	var n int64
	for _, info := range r.Found {
		n += info.Bytes
	}
	return n
}
