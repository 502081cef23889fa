package tokenizer

import "unicode/utf8"

// EncodeOptions says how special tokens take part in Encode. The zero value
// matches all added tokens in the text and adds none.
type EncodeOptions struct {
	// AddSpecial adds what the file's post-processor adds to a text: the BOS
	// token in front, or nothing where the file has no such post-processor.
	AddSpecial bool

	// SpecialAsText leaves special tokens that the text spells out as the
	// plain text they are: no character of the text takes part in a special
	// token other than the unknown token. It is for text of a user, which must
	// not be able to forge a turn marker. Added tokens that are not special
	// (runs of newlines) are still matched.
	SpecialAsText bool
}

// Span is the part of a text that a token stands for: the bytes from Start up
// to, not including, End.
type Span struct{ Start, End int }

// Encode returns the ids of text. See the package comment for the rules, also
// for text that is not valid UTF-8.
func (t *Tokenizer) Encode(text string, opts EncodeOptions) []int32 {
	return t.encode(text, opts, false).ids
}

// EncodeOffsets is Encode with the span of each id in text, in bytes. Byte
// tokens of one character carry the span of that character, a BOS that was
// added the empty span at 0.
func (t *Tokenizer) EncodeOffsets(text string, opts EncodeOptions) (ids []int32, spans []Span) {
	e := t.encode(text, opts, true)
	return e.ids, e.spans
}

func (t *Tokenizer) encode(text string, opts EncodeOptions, withSpans bool) *encoder {
	e := &encoder{
		t: t, text: text, withSpans: withSpans,
		ids: []int32{}, spans: []Span{},
	}
	if opts.SpecialAsText {
		e.barred = t.special
	}
	if opts.AddSpecial && t.addsBOS {
		e.emit(t.bos, Span{})
	}
	for from := 0; from < len(text); {
		start, end, id := t.added.next(text, from, e.barred)
		e.encodeBetween(from, start)
		if id != none {
			e.emit(id, Span{start, end})
		}
		from = end
	}
	return e
}

// encoder is the state of one Encode.
type encoder struct {
	t         *Tokenizer
	text      string
	barred    []bool // by id: what the text may not become; nil for nothing
	withSpans bool
	merger    merger
	ids       []int32
	spans     []Span
}

func (e *encoder) emit(id int32, s Span) {
	e.ids = append(e.ids, id)
	if e.withSpans {
		e.spans = append(e.spans, s)
	}
}

// encodeBetween encodes text[start:end], in which no added token is.
func (e *encoder) encodeBetween(start, end int) {
	if start == end {
		return
	}
	e.merger.reset(end - start)
	for at := start; at < end; {
		size := 1
		if e.text[at] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(e.text[at:end])
		}
		e.addCharacter(Span{at, at + size})
		at += size
	}
	e.merger.merge(&e.t.merges, e.barred)
	for s := range e.merger.result() {
		e.emit(s.id, s.span)
	}
}

// addCharacter hands one character to the merger, as its piece, as byte tokens
// or as the unknown token. A byte that is not UTF-8 is a character of its own.
func (e *encoder) addCharacter(s Span) {
	t := e.t
	piece := e.text[s.Start:s.End]
	id := none
	if c := piece[0]; c < utf8.RuneSelf {
		id = t.ascii[c]
	} else if found, ok := t.vocab.ids[piece]; ok {
		id = found
	}
	if id != none && (e.barred == nil || !e.barred[id]) {
		e.merger.add(id, s)
		return
	}
	if piece == " " {
		piece = space
	}
	for i := range len(piece) {
		if t.bytes[piece[i]] == none {
			e.addUnknown(s)
			return
		}
	}
	for i := range len(piece) {
		e.merger.add(t.bytes[piece[i]], s)
	}
}

// addUnknown hands the unknown token to the merger. A character can be unknown
// only in a vocabulary that lacks byte tokens, and such a file is loaded only
// when it has an unknown token.
func (e *encoder) addUnknown(s Span) {
	if e.t.fuse && e.merger.extend(e.t.unknown, s) {
		return
	}
	e.merger.add(e.t.unknown, s)
}
