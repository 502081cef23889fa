package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

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

// checkSpecial refuses a special id that no row or no token stands for: such an
// id could never be drawn, and would be met in a prompt only.
func checkSpecial(c *weights.Checkpoint, tok *tokenizer.Tokenizer, rows int) error {
	if file := c.GGUF(); file != nil {
		if err := checkGGUFSpecial(file, tok, rows); err != nil {
			return &weights.RejectedError{Path: c.Name(), Err: err}
		}
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
		if err := checkFile(data, tok, rows); err != nil {
			return &weights.RejectedError{Path: c.Name(), Err: fmt.Errorf("%s: %w", file, err)}
		}
	}
	return nil
}

// checkFile looks at every key that ends in _token_id, of the file itself and of
// its text_config.
func checkFile(data []byte, tok *tokenizer.Tokenizer, rows int) error {
	var top map[string]json.RawMessage
	if err := jsonfile.Unmarshal(data, &top); err != nil {
		return err
	}
	sections := []struct {
		prefix string
		keys   map[string]json.RawMessage
	}{{"", top}}
	if raw, ok := top["text_config"]; ok {
		var text map[string]json.RawMessage
		if err := jsonfile.Unmarshal(raw, &text); err != nil {
			return fmt.Errorf("text_config: %w", err)
		}
		sections = append(sections, struct {
			prefix string
			keys   map[string]json.RawMessage
		}{"text_config.", text})
	}
	for _, section := range sections {
		for _, key := range slices.Sorted(maps.Keys(section.keys)) {
			if !strings.HasSuffix(key, "_token_id") {
				continue
			}
			if err := checkIDs(section.keys[key], tok, rows); err != nil {
				return fmt.Errorf("%s%s: %w", section.prefix, key, err)
			}
		}
	}
	return nil
}

// checkIDs checks the value of one key: null, an id, or a list of ids.
func checkIDs(raw json.RawMessage, tok *tokenizer.Tokenizer, rows int) error {
	var ids []int64
	if json.Unmarshal(raw, &ids) != nil {
		var id *int64
		if err := json.Unmarshal(raw, &id); err != nil {
			return errors.New("neither an id nor a list of ids")
		}
		if id == nil {
			return nil
		}
		ids = []int64{*id}
	}
	for _, id := range ids {
		if err := checkID(id, tok, rows); err != nil {
			return err
		}
	}
	return nil
}

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
