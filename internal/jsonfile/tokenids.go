package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NamedIDs are the token ids that one key of a file holds.
type NamedIDs struct {
	// Key is the key with what it lies in, for example
	// "text_config.pad_token_id".
	Key string
	IDs []int64
}

// TokenIDs lists the ids of every key that ends in _token_id, of the file itself
// and then of its text_config, each in the order of the keys. A key holds an id, a
// list of ids, or null for none. Whether there are such ids is for others to tell.
func TokenIDs(data []byte) ([]NamedIDs, error) {
	var top map[string]json.RawMessage
	if err := Unmarshal(data, &top); err != nil {
		return nil, err
	}
	list, err := namedIDs("", top)
	if err != nil {
		return nil, err
	}
	var text map[string]json.RawMessage
	if raw, ok := top["text_config"]; ok {
		if err := Unmarshal(raw, &text); err != nil {
			return nil, fmt.Errorf("text_config: %w", err)
		}
	}
	inText, err := namedIDs("text_config.", text)
	return append(list, inText...), err
}

func namedIDs(prefix string, keys map[string]json.RawMessage) ([]NamedIDs, error) {
	var list []NamedIDs
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !strings.HasSuffix(key, "_token_id") {
			continue
		}
		ids, err := idsOf(keys[key])
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", prefix, key, err)
		}
		list = append(list, NamedIDs{prefix + key, ids})
	}
	return list, nil
}

// idsOf reads the value of one key.
func idsOf(raw json.RawMessage) ([]int64, error) {
	if !bytes.HasPrefix(raw, []byte("[")) {
		var id *int64
		if err := Unmarshal(raw, &id); err != nil || id == nil {
			return nil, err
		}
		return []int64{*id}, nil
	}
	var entries []*int64
	if err := Unmarshal(raw, &entries); err != nil {
		return nil, err
	}
	ids := make([]int64, len(entries))
	for i, id := range entries {
		if id == nil {
			return nil, errors.New("want a whole number, found null")
		}
		ids[i] = *id
	}
	return ids, nil
}
