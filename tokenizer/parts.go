package tokenizer

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// TokenType is what a GGUF file says of a token (tokenizer.ggml.token_type).
type TokenType int32

// The token types of GGUF.
const (
	Normal      TokenType = 1
	Unknown     TokenType = 2 // the unknown token
	Control     TokenType = 3 // special
	UserDefined TokenType = 4 // an added token; special when it is a marker
	Unused      TokenType = 5 // fills an id that has no token
	Byte        TokenType = 6 // <0xXX>
)

// Parts are the pieces of a tokenizer of Gemma's form as a GGUF file holds them
// (tokenizer.ggml.model "gemma4").
type Parts struct {
	// Tokens are the pieces by id, with U+2581 for spaces.
	Tokens []string
	// Types are those of the tokens, as many.
	Types []TokenType
	// Merges are pairs of pieces joined by one space, in the order of their
	// rank.
	Merges []string
	// BOS is the id of the token that begins a sequence, below 0 for none.
	BOS int32
	// AddBOS says that BOS goes before a text.
	AddBOS bool
}

// FromParts makes a tokenizer of its parts, which it keeps. It equals the one of
// the tokenizer.json that the parts were made of: control tokens and the unknown
// token are special, user-defined tokens are added tokens, and those of them that
// are spelled like Gemma's markers, <|…> or <…|>, are special too. (GGUF calls the
// markers around thoughts and tool calls user-defined so that their text is
// shown.) A token that is unused leaves its id without one. An error names the
// token or the merge.
func FromParts(p Parts) (*Tokenizer, error) {
	t, err := fromParts(p)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

func fromParts(p Parts) (*Tokenizer, error) {
	n := len(p.Tokens)
	switch {
	case n == 0:
		return nil, errors.New("no tokens")
	case n > math.MaxInt32:
		return nil, fmt.Errorf("%d tokens are too many", n)
	case len(p.Types) != n:
		return nil, fmt.Errorf("%d types for %d tokens", len(p.Types), n)
	}
	d := &definition{
		vocab:    vocabulary{pieces: make([]string, 0, n), ids: make(map[string]int32, n), limit: n},
		fuse:     true,
		fallback: true,
	}
	for id, piece := range p.Tokens {
		if err := d.addPart(int32(id), piece, p.Types[id]); err != nil {
			return nil, fmt.Errorf("token %d: %w", id, err)
		}
	}
	if err := d.readParts(p.Merges); err != nil {
		return nil, err
	}
	if p.BOS >= 0 {
		if int(p.BOS) >= len(d.vocab.pieces) || d.vocab.pieces[p.BOS] == "" {
			return nil, fmt.Errorf("BOS %d is no token", p.BOS)
		}
	} else if p.AddBOS {
		return nil, errors.New("BOS goes before a text, but there is none")
	}
	t, err := build(d)
	if err != nil {
		return nil, err
	}
	if p.BOS >= 0 {
		t.bos, t.addsBOS = p.BOS, p.AddBOS
	}
	return t, nil
}

// addPart enters one token with what its type says of it.
func (d *definition) addPart(id int32, piece string, typ TokenType) error {
	if typ == Unused {
		return nil
	}
	if !utf8.ValidString(piece) {
		return fmt.Errorf("byte %d: not valid UTF-8", firstInvalid([]byte(piece)))
	}
	if err := d.vocab.add(piece, id); err != nil {
		return err
	}
	_, isByte := byteOf(piece)
	added := addedToken{id: id, content: piece}
	switch typ {
	case Normal:
		return nil // a byte token may be called that
	case Byte:
		if !isByte {
			return fmt.Errorf("%s is called a byte token, and is none", quote(piece))
		}
		return nil
	case Unknown:
		if d.unknown != nil {
			return fmt.Errorf("%s is a second unknown token, after %s", quote(piece), quote(*d.unknown))
		}
		d.unknown = &piece
		added.special = true
	case Control:
		added.special = true
	case UserDefined:
		added.special = isMarker(piece)
	default:
		return fmt.Errorf("%s: type %d is not supported", quote(piece), typ)
	}
	if len(piece) > maxAddedBytes {
		return fmt.Errorf("%d bytes are longer than %d", len(piece), maxAddedBytes)
	}
	d.added = append(d.added, added)
	return nil
}

// isMarker reports whether an added token is spelled like the markers of Gemma's
// prompts.
func isMarker(piece string) bool {
	return len(piece) > len("<|>") && (strings.HasPrefix(piece, "<|") && strings.HasSuffix(piece, ">") ||
		strings.HasPrefix(piece, "<") && strings.HasSuffix(piece, "|>"))
}

// readParts enters the merges. No piece holds a space.
func (d *definition) readParts(merges []string) error {
	d.merges.ranks = make(map[uint64]int32, len(merges))
	var pair []byte
	for i, text := range merges {
		left, right, ok := strings.Cut(text, " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return fmt.Errorf("merge %d: %s is not two pieces with a space between", i, quote(text))
		}
		pair = append(append(pair[:0], left...), right...)
		if err := d.merges.add(pair, len(left), &d.vocab); err != nil {
			return fmt.Errorf("merge %d: %w", i, err)
		}
	}
	return nil
}
