package tokenizer

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// maxAddedBytes bounds the content of an added token, and with it the cost of
// looking for one at a position of a text.
const maxAddedBytes = 1024

// bytesPerPiece is what a piece and its merges take in a large file, about.
const bytesPerPiece = 128

// addedToken is one entry of added_tokens.
type addedToken struct {
	id      int32
	content string
	special bool
}

// vocabulary is the table of pieces. Neither pieces nor ids are empty or
// repeat; an id without a piece has the piece "".
type vocabulary struct {
	pieces []string         // by id
	ids    map[string]int32 // by piece
	limit  int              // ids are below it
}

// checkID converts an id of the file. The limit is the size of the file in
// bytes: more tokens than that it cannot hold, and no table grows beyond it.
func (v *vocabulary) checkID(id int64) (int32, error) {
	if id < 0 || id >= int64(min(v.limit, math.MaxInt32)) {
		return 0, fmt.Errorf("id %d is out of range (0 to %d in a file of %d bytes)", id, v.limit-1, v.limit)
	}
	return int32(id), nil
}

// add enters a new piece.
func (v *vocabulary) add(piece string, id int32) error {
	if piece == "" {
		return errors.New("token is empty")
	}
	if _, ok := v.ids[piece]; ok {
		return fmt.Errorf("token %s occurs twice", quote(piece))
	}
	if int(id) < len(v.pieces) && v.pieces[id] != "" {
		return fmt.Errorf("token %s: id %d is already that of %s", quote(piece), id, quote(v.pieces[id]))
	}
	for int(id) >= len(v.pieces) {
		v.pieces = append(v.pieces, "")
	}
	v.pieces[id] = piece
	v.ids[piece] = id
	return nil
}

// merges is the merge list: which neighbours join, and into what. The rank of
// a merge is its place in the list.
type merges struct {
	ranks   map[uint64]int32 // by pairKey
	results []int32          // by rank: the id of the joined piece
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// definition is a tokenizer.json as read.
type definition struct {
	vocab    vocabulary
	merges   merges
	added    []addedToken
	bos      *addedBOS
	unknown  *string // model.unk_token
	fuse     bool    // model.fuse_unk
	fallback bool    // model.byte_fallback
}

// readDefinition reads and checks a tokenizer.json. Errors name the field.
func readDefinition(data []byte) (*definition, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("byte %d: not valid UTF-8", firstInvalid(data))
	}
	r := &jsonReader{data: data}
	d := &definition{vocab: vocabulary{ids: make(map[string]int32, len(data)/bytesPerPiece), limit: len(data)}}
	components := map[string][]byte{}
	model := false
	err := r.fields(func(key string) error {
		switch key {
		case "version":
			v, err := r.str()
			if err == nil && string(v) != "1.0" {
				err = unsupported(quote(string(v)))
			}
			return inField(key, err)
		case "truncation":
			return inField(key, wantUnset(r))
		case "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder":
			raw, err := r.raw()
			components[key] = raw
			return inField(key, err)
		case "added_tokens":
			return d.readAdded(r)
		case "model":
			model = true
			return inField(key, d.readModel(r))
		}
		return fmt.Errorf("field %s is not supported", quote(key))
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, err
	}
	if !model {
		return nil, errors.New("model is missing")
	}
	return d, d.readComponents(components)
}

// firstInvalid returns the index of the first byte that is not valid UTF-8.
func firstInvalid(data []byte) int {
	at := 0
	for at < len(data) {
		ch, size := utf8.DecodeRune(data[at:])
		if ch == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

func (d *definition) readComponents(raw map[string][]byte) error {
	if p := raw["padding"]; p != nil {
		if err := checkPadding(p); err != nil {
			return inField("padding", err)
		}
	}
	if err := checkNormalizer(raw["normalizer"]); err != nil {
		return inField("normalizer", err)
	}
	if err := checkPreTokenizer(raw["pre_tokenizer"]); err != nil {
		return inField("pre_tokenizer", err)
	}
	if err := checkDecoder(raw["decoder"]); err != nil {
		return inField("decoder", err)
	}
	var err error
	d.bos, err = readPostProcessor(raw["post_processor"])
	return inField("post_processor", err)
}

func (d *definition) readAdded(r *jsonReader) error {
	return inField("added_tokens", r.array(func(i int) error {
		a, err := d.readAddedToken(r)
		d.added = append(d.added, a)
		return inField(fmt.Sprintf("[%d]", i), err)
	}))
}

func (d *definition) readAddedToken(r *jsonReader) (addedToken, error) {
	a := addedToken{id: -1}
	err := r.fields(func(key string) error {
		switch key {
		case "id":
			id, err := r.integer()
			if err != nil {
				return inField(key, err)
			}
			a.id, err = d.vocab.checkID(id)
			return err
		case "content":
			s, err := r.str()
			a.content = string(s)
			return inField(key, err)
		case "special":
			var err error
			a.special, err = r.bool()
			return inField(key, err)
		case "single_word", "lstrip", "rstrip", "normalized":
			on, err := r.bool()
			if err == nil && on {
				err = unsupported("true")
			}
			return inField(key, err)
		}
		return fmt.Errorf("field %s is not supported", quote(key))
	})
	switch {
	case err != nil:
		if a.content != "" {
			err = fmt.Errorf("token %s: %w", quote(a.content), err)
		}
	case a.id < 0:
		err = errors.New("id is missing")
	case a.content == "":
		err = errors.New("content is missing or empty")
	case len(a.content) > maxAddedBytes:
		err = fmt.Errorf("content of %d bytes is longer than %d", len(a.content), maxAddedBytes)
	}
	return a, err
}
