package models

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/frescolm/fresco/internal/jsonfile"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/tokenizer"
)

// assigned lists, in ascending order, the ids that have a token when the
// tokenizer leaves rows of the embedding without one; nil means that all rows
// have one, or that there is no tokenizer to say otherwise. note says how many
// do not. from names the tokenizer in errors.
func assigned(tok *tokenizer.Tokenizer, from string, rows int) (ids []int32, note string, err error) {
	if tok == nil {
		return nil, "", nil
	}
	if tok.Size() > rows {
		return nil, "", fmt.Errorf("%s has ids up to %d, the embedding only %d rows", from, tok.Size()-1, rows)
	}
	for id := range int32(tok.Size()) {
		if _, ok := tok.Token(id); ok {
			ids = append(ids, id)
		}
	}
	missing := rows - len(ids)
	switch {
	case missing == 0:
		return nil, "", nil
	case len(ids) == 0:
		return nil, "", fmt.Errorf("%s has no token at all", from)
	case missing == 1:
		return ids, "1 row without a token", nil
	}
	return ids, fmt.Sprintf("%d rows without a token", missing), nil
}

// checkSpecial refuses a special id of the configuration that has no token: it
// could never be drawn, and would be met in a prompt only. That every id has a row
// of the embedding is checked by the architecture.
func checkSpecial(c *weights.Checkpoint, tok *tokenizer.Tokenizer, rows int) error {
	if file := c.GGUF(); file != nil {
		if err := checkGGUFSpecial(file, tok, rows); err != nil {
			return &weights.RejectedError{Path: c.Name(), Err: err}
		}
		return nil
	}
	if tok == nil {
		return nil
	}
	for _, file := range []string{"config.json", "generation_config.json"} {
		data, err := c.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		}
		if err := haveTokens(data, tok); err != nil {
			return &weights.RejectedError{Path: c.Name(), Err: fmt.Errorf("%s: %w", file, err)}
		}
	}
	return nil
}

func haveTokens(config []byte, tok *tokenizer.Tokenizer) error {
	special, err := jsonfile.TokenIDs(config)
	if err != nil {
		return err
	}
	for _, named := range special {
		for _, id := range named.IDs {
			if _, ok := tok.Token(int32(id)); !ok {
				return fmt.Errorf("%s: id %d has no token (the tokenizer has %d ids)", named.Key, id, tok.Size())
			}
		}
	}
	return nil
}

// checkID refuses an id without a row or, with a tokenizer, without a token.
func checkID(id int64, tok *tokenizer.Tokenizer, rows int) error {
	if id < 0 || id >= int64(rows) {
		return fmt.Errorf("id %d is beyond the embedding's %d rows", id, rows)
	}
	if tok == nil {
		return nil
	}
	if _, ok := tok.Token(int32(id)); !ok {
		return fmt.Errorf("id %d has no token (the tokenizer has %d ids)", id, tok.Size())
	}
	return nil
}
