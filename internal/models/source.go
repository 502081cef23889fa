package models

import (
	"errors"

	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/tokenizer"
)

// A Source is a checkpoint that is read to be written in another form.
type Source struct {
	// Name is the embedded name or the path as it was given.
	Name string
	// Checkpoint is what Close closes, and with it all tensors.
	Checkpoint *weights.Checkpoint
	Config     *model.Config
	*model.Export
	// Tokenizer is nil for a checkpoint without one.
	Tokenizer *tokenizer.Tokenizer
	// Template is the chat template, "" for none.
	Template string
	// Task is true when prompt.json says how the model is asked.
	Task bool
}

// OpenSource opens a checkpoint by its embedded name or its path, and checks its
// tensors, but runs nothing.
func OpenSource(nameOrPath string) (*Source, error) {
	from, err := find(nameOrPath)
	if err != nil {
		return nil, err
	}
	c, err := from.open()
	if err != nil {
		return nil, err
	}
	s, err := readSource(c, from)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}

func readSource(c *weights.Checkpoint, from source) (*Source, error) {
	d, err := describe(c, from)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: from.name, Checkpoint: c, Config: d.seen.Config, Tokenizer: d.tokenizer}
	if s.Export, err = d.architecture.Export(c); err != nil {
		return nil, err
	}
	if d.form != nil {
		s.Task = d.form.Name() == chat.Task{}.Name()
	}
	if s.Template, err = chat.Template(promptFiles(c)); err != nil {
		return nil, ofContent(c, err)
	}
	return s, nil
}

// Close closes the checkpoint.
func (s *Source) Close() error { return s.Checkpoint.Close() }

// Blueprint tells the checkpoint that would belong to the config.json and the
// generation_config.json of an architecture, see model.Architecture.
func Blueprint(modelType string, config, generation []byte) (*model.Export, error) {
	architecture, err := registry.Lookup(modelType)
	if err != nil {
		return nil, err
	}
	return architecture.Blueprint(config, generation)
}
