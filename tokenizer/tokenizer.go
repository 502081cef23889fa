package tokenizer

import (
	"errors"
	"fmt"
	"os"
)

// maxFileBytes bounds the file that Open reads.
const maxFileBytes = 1 << 30

// replacement stands for bytes that are no text and for ids without a token.
const replacement = "\uFFFD"

// none is the id of no token.
const none int32 = -1

// Tokenizer is a loaded tokenizer.json. It does not change and may be used by
// several goroutines at once.
type Tokenizer struct {
	vocab   vocabulary
	merges  merges
	special []bool // by id
	added   addedTrie
	bytes   [256]int32 // ids of the byte tokens, none where the vocabulary lacks one
	ascii   [128]int32 // ids of the pieces of one ASCII character, a space as ▁
	unknown int32      // none where the file names no unknown token
	fuse    bool       // neighbouring unknown characters are one token
	bos     int32
	addsBOS bool // the post-processor puts bos before a text
}

// Open loads the tokenizer.json at path. An error names path and the field of
// the file that is malformed or not supported.
func Open(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, pathError(path, errors.New("not a regular file"))
	}
	if info.Size() > maxFileBytes {
		return nil, pathError(path, fmt.Errorf("%d bytes are more than %d", info.Size(), maxFileBytes))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	return load(path, data)
}

// Load loads a tokenizer.json from memory. It keeps no reference to data.
// Errors are those of Open, with the path "tokenizer.json".
func Load(data []byte) (*Tokenizer, error) { return load("tokenizer.json", data) }

func load(name string, data []byte) (*Tokenizer, error) {
	d, err := readDefinition(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %s: %w", name, err)
	}
	t, err := build(d)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %s: %w", name, err)
	}
	return t, nil
}

// build makes the tables of a Tokenizer and checks what concerns more than one
// field of the file.
func build(d *definition) (*Tokenizer, error) {
	t := &Tokenizer{vocab: d.vocab, merges: d.merges, fuse: d.fuse, unknown: none, bos: none}
	if err := t.buildAdded(d.added); err != nil {
		return nil, inField("added_tokens", err)
	}
	if err := t.buildFallback(d); err != nil {
		return nil, inField("model", err)
	}
	for c := range t.ascii {
		t.ascii[c] = t.idOf(string(rune(c)))
	}
	t.ascii[' '] = t.idOf(space)
	if d.bos != nil {
		id, ok := t.vocab.ids[d.bos.content]
		if !ok || int64(id) != d.bos.id {
			return nil, inField("post_processor.special_tokens", fmt.Errorf("token %s does not have the id %d", quote(d.bos.content), d.bos.id))
		}
		t.bos, t.addsBOS = id, true
	} else if id, ok := t.vocab.ids["<bos>"]; ok && t.special[id] {
		t.bos = id
	}
	return t, nil
}

func (t *Tokenizer) idOf(piece string) int32 {
	if id, ok := t.vocab.ids[piece]; ok {
		return id
	}
	return none
}

// buildAdded enters the added tokens: those of the vocabulary under the same
// id, others beside it.
func (t *Tokenizer) buildAdded(added []addedToken) error {
	seen := make(map[int32]bool, len(added))
	for i, a := range added {
		var err error
		id, ok := t.vocab.ids[a.content]
		switch {
		case seen[a.id]:
			err = fmt.Errorf("token %s: id %d occurs twice", quote(a.content), a.id)
		case ok && id != a.id:
			err = fmt.Errorf("token %s: id %d, but the vocabulary has it under %d", quote(a.content), a.id, id)
		case !ok:
			err = t.vocab.add(a.content, a.id)
		}
		if err != nil {
			return inField(fmt.Sprintf("[%d]", i), err)
		}
		seen[a.id] = true
		t.added.add(a.content, a.id)
	}
	t.special = make([]bool, len(t.vocab.pieces))
	for _, a := range added {
		t.special[a.id] = a.special
	}
	return nil
}

// buildFallback finds the tokens for characters without a piece.
func (t *Tokenizer) buildFallback(d *definition) error {
	missing := ""
	have := false
	for b := range t.bytes {
		piece := fmt.Sprintf("<0x%02X>", b)
		id := t.idOf(piece)
		t.bytes[b] = id
		switch {
		case id == none && missing == "":
			missing = piece
		case id != none && t.special[id]:
			return inField("vocab", fmt.Errorf("byte token %s is marked special", piece))
		case id != none:
			have = true
		}
	}
	if !d.fallback && have {
		return inField("byte_fallback", unsupported("false beside byte tokens"))
	}
	if d.unknown != nil {
		if t.unknown = t.idOf(*d.unknown); t.unknown == none {
			return inField("unk_token", fmt.Errorf("%s is not in the vocabulary", quote(*d.unknown)))
		}
	} else if missing != "" {
		return inField("vocab", fmt.Errorf("byte token %s is missing, and there is no unk_token", missing))
	}
	return nil
}

// Size returns the number of ids: the highest id plus one. Not every id below
// it has a token, see Unassigned.
func (t *Tokenizer) Size() int { return len(t.vocab.pieces) }

// Unassigned returns the ids below Size that have no token, in order.
func (t *Tokenizer) Unassigned() []int32 {
	var ids []int32
	for id, piece := range t.vocab.pieces {
		if piece == "" {
			ids = append(ids, int32(id))
		}
	}
	return ids
}

// Token returns the text of a token as the vocabulary spells it: with U+2581
// for spaces, and <0xXX> for a byte token. ok is false for an id without one.
func (t *Tokenizer) Token(id int32) (text string, ok bool) {
	if id < 0 || int(id) >= len(t.vocab.pieces) {
		return "", false
	}
	text = t.vocab.pieces[id]
	return text, text != ""
}

// TokenID returns the id of the token that the vocabulary spells text.
func (t *Tokenizer) TokenID(text string) (id int32, ok bool) {
	id, ok = t.vocab.ids[text]
	return id, ok
}

// IsSpecial reports whether id is an added token that the file marks special,
// such as <bos> and the turn markers.
func (t *Tokenizer) IsSpecial(id int32) bool {
	return id >= 0 && int(id) < len(t.special) && t.special[id]
}

// BOS returns the id of the token that begins a sequence: the one that the
// file's post-processor adds, else the special token <bos>. ok is false where
// there is neither.
func (t *Tokenizer) BOS() (id int32, ok bool) { return t.bos, t.bos != none }

// AddsBOS reports whether the file's post-processor puts BOS before a text,
// and so whether AddSpecial has an effect.
func (t *Tokenizer) AddsBOS() bool { return t.addsBOS }

// Check returns an *UnknownIDError for the first of ids that has no token, nil
// when all have one.
func (t *Tokenizer) Check(ids []int32) error {
	for i, id := range ids {
		if _, ok := t.Token(id); !ok {
			return &UnknownIDError{ID: id, Index: i, Size: t.Size()}
		}
	}
	return nil
}
