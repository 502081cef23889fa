package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
)

// readModel reads the field "model".
func (d *definition) readModel(r *jsonReader) error {
	var haveType, haveVocab, haveMerges bool
	var early []byte // merges that stand before the vocabulary they name
	var earlyAt int
	err := r.fields(func(key string) error {
		switch key {
		case "type":
			haveType = true
			typ, err := r.str()
			if err != nil {
				return inField(key, err)
			}
			if string(typ) != "BPE" {
				err = unsupported(quote(string(typ)))
			}
			return inField(key, err)
		case "dropout", "continuing_subword_prefix", "end_of_word_suffix":
			return inField(key, wantUnset(r))
		case "unk_token":
			if r.null() {
				return nil
			}
			s, err := r.str()
			unknown := string(s)
			d.unknown = &unknown
			return inField(key, err)
		case "fuse_unk":
			var err error
			d.fuse, err = r.bool()
			return inField(key, err)
		case "byte_fallback":
			var err error
			d.fallback, err = r.bool()
			return inField(key, err)
		case "ignore_merges":
			on, err := r.bool()
			if err == nil && on {
				err = unsupported("true")
			}
			return inField(key, err)
		case "vocab":
			haveVocab = true
			return inField(key, d.vocab.read(r))
		case "merges":
			haveMerges = true
			if haveVocab {
				return inField(key, d.merges.read(r, &d.vocab))
			}
			r.peek()
			earlyAt = r.pos
			var err error
			early, err = r.raw()
			return inField(key, err)
		}
		return fmt.Errorf("field %s is not supported", quote(key))
	})
	switch {
	case err != nil:
		return err
	case !haveType:
		return errors.New("type is missing")
	case !haveVocab:
		return errors.New("vocab is missing")
	case !haveMerges:
		return errors.New("merges is missing")
	case early != nil:
		return inField("merges", d.merges.read(&jsonReader{data: r.data, pos: earlyAt}, &d.vocab))
	}
	return nil
}

// wantUnset consumes null, or "", which some writers put for none.
func wantUnset(r *jsonReader) error {
	raw, err := r.raw()
	if err == nil && string(raw) != "null" && string(raw) != `""` {
		err = unsupported(abbreviate(raw))
	}
	return err
}

// abbreviate names a JSON value in an error.
func abbreviate(raw []byte) string {
	switch raw[0] {
	case '{':
		return "{…}"
	case '[':
		return "[…]"
	}
	return shorten(string(raw))
}

// read reads model.vocab, an object of ids by piece.
func (v *vocabulary) read(r *jsonReader) error {
	return r.object(func(key []byte) error {
		piece := string(key)
		n, err := r.integer()
		if err != nil {
			return fmt.Errorf("token %s: %w", quote(piece), err)
		}
		id, err := v.checkID(n)
		if err != nil {
			return fmt.Errorf("token %s: %w", quote(piece), err)
		}
		return v.add(piece, id)
	})
}

// read reads model.merges, a list of pairs, each written as ["a","b"] or, in
// older files, as "a b".
func (m *merges) read(r *jsonReader, v *vocabulary) error {
	m.ranks = make(map[uint64]int32, 2*len(v.ids))
	var pair []byte // both pieces joined
	return r.array(func(i int) error {
		cut := 0
		var err error
		if r.peek() == '[' {
			pair, cut, err = readPair(r, pair[:0])
		} else {
			pair, cut, err = readSpacedPair(r, pair[:0])
		}
		if err == nil {
			err = m.add(pair, cut, v)
		}
		if err != nil {
			return inField(fmt.Sprintf("[%d]", i), err)
		}
		return nil
	})
}

// readPair appends the pieces of ["a","b"] to buf. It returns where the second
// begins.
func readPair(r *jsonReader, buf []byte) (pair []byte, cut int, err error) {
	n := 0
	err = r.array(func(i int) error {
		if n++; i == 1 {
			cut = len(buf)
		}
		s, err := r.str()
		buf = append(buf, s...)
		return err
	})
	if err == nil && n != 2 {
		err = fmt.Errorf("has %d pieces, want 2", n)
	}
	return buf, cut, err
}

// readSpacedPair appends the pieces of "a b" to buf, like readPair.
func readSpacedPair(r *jsonReader, buf []byte) (pair []byte, cut int, err error) {
	s, err := r.str()
	if err != nil {
		return nil, 0, err
	}
	if n := bytes.Count(s, []byte{' '}) + 1; n != 2 {
		return nil, 0, fmt.Errorf("has %d pieces, want 2", n)
	}
	left, right, _ := bytes.Cut(s, []byte{' '})
	buf = append(buf, left...)
	return append(buf, right...), len(left), nil
}

// add appends the merge of pair[:cut] and pair[cut:].
func (m *merges) add(pair []byte, cut int, v *vocabulary) error {
	left, okLeft := v.ids[string(pair[:cut])]
	right, okRight := v.ids[string(pair[cut:])]
	joined, okJoined := v.ids[string(pair)]
	absent := pair
	switch {
	case !okLeft:
		absent = pair[:cut]
	case !okRight:
		absent = pair[cut:]
	}
	if !okLeft || !okRight || !okJoined {
		return fmt.Errorf("piece %s is not in the vocabulary", quote(string(absent)))
	}
	key := pairKey(left, right)
	if rank, ok := m.ranks[key]; ok {
		return fmt.Errorf("repeats [%d]", rank)
	}
	m.ranks[key] = int32(len(m.results))
	m.results = append(m.results, joined)
	return nil
}
