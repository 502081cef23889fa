package tokenizer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Parts takes a tokenizer apart into what a GGUF file holds of it. It is an error
// when [FromParts] would make another tokenizer of the parts: when a special token
// beside the markers has to stay visible, say, or a piece holds a space.
func (t *Tokenizer) Parts() (Parts, error) {
	p := Parts{Tokens: slices.Clone(t.vocab.pieces), Types: make([]TokenType, len(t.vocab.pieces)), BOS: t.bos, AddBOS: t.addsBOS}
	for id, piece := range p.Tokens {
		p.Types[id] = t.typeOf(int32(id), piece)
		if piece == "" {
			p.Tokens[id] = fmt.Sprintf("<unused id %d>", id)
		}
	}
	p.Merges = make([]string, len(t.merges.results))
	for key, rank := range t.merges.ranks {
		p.Merges[rank] = t.vocab.pieces[key>>32] + " " + t.vocab.pieces[uint32(key)]
	}
	again, err := FromParts(p)
	if err != nil {
		return Parts{}, err
	}
	if err := t.same(again); err != nil {
		return Parts{}, fmt.Errorf("tokenizer: its parts do not say all of it: %w", err)
	}
	return p, nil
}

// typeOf is the type of an id in a GGUF file.
func (t *Tokenizer) typeOf(id int32, piece string) TokenType {
	_, isByte := byteOf(piece)
	switch {
	case piece == "":
		return Unused
	case id == t.unknown:
		return Unknown
	case t.special[id]:
		return Control
	case t.isAdded(piece, id):
		return UserDefined
	case isByte:
		return Byte
	}
	return Normal
}

// isAdded reports whether the token of that text and id is an added one.
func (t *Tokenizer) isAdded(piece string, id int32) bool {
	node := int32(0)
	for i := range len(piece) {
		next, ok := t.added.edges[uint64(node)<<8|uint64(piece[i])]
		if !ok {
			return false
		}
		node = next
	}
	end, ok := t.added.ends[node]
	return ok && end == id
}

// same says in what two tokenizers differ.
func (t *Tokenizer) same(other *Tokenizer) error {
	switch {
	case !slices.Equal(t.vocab.pieces, other.vocab.pieces):
		return errors.New("other pieces")
	case !maps.Equal(t.merges.ranks, other.merges.ranks) || !slices.Equal(t.merges.results, other.merges.results):
		return errors.New("other merges")
	case t.bytes != other.bytes:
		return errors.New("other byte tokens")
	case t.unknown != other.unknown || t.unknown != none && t.fuse != other.fuse:
		return errors.New("unknown characters become other tokens")
	case t.bos != other.bos || t.addsBOS != other.addsBOS:
		return errors.New("another token begins a text")
	case len(t.added.ends) != len(other.added.ends):
		return errors.New("other added tokens")
	}
	for id, piece := range t.vocab.pieces {
		switch id := int32(id); {
		case t.special[id] != other.special[id]:
			return fmt.Errorf("token %d, %s, would be special: %v", id, quote(piece), other.special[id])
		case t.isAdded(piece, id) != other.isAdded(piece, id):
			return fmt.Errorf("token %d, %s, would be an added one: %v", id, quote(piece), other.isAdded(piece, id))
		}
	}
	return nil
}
