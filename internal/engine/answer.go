package engine

import (
	"bytes"
	"sort"

	"github.com/frescolm/fresco/tokenizer"
)

// An answer collects the tokens of an answer and decides what of it is final.
//
// A stop text cuts the answer where its leftmost occurrence starts, whichever
// of the stop texts that is; of two that start at the same place it does not
// matter which. So the answer does not depend on how its tokens arrive. While
// the end of the text could be the beginning of a stop text, it is held back;
// and while such a beginning lies before a stop text that is already complete,
// the answer goes on until it is known which of them comes first.
type answer struct {
	limit  int               // of tokens; 0 is none
	stops  [][]byte          // none without a tokenizer
	stream *tokenizer.Stream // nil without a tokenizer

	ids  []int32
	text []byte
	// ends has the length of text with each id, when there are stop texts.
	ends  []int
	match int // start of the leftmost complete stop text, -1 when none
	held  int // start of the leftmost possible one, len(text) when none
	ended bool

	takenIDs, takenText int
}

func newAnswer(t *tokenizer.Tokenizer, limit int, stops []string) answer {
	a := answer{limit: limit, ids: []int32{}, match: -1}
	if t != nil {
		a.stream = t.NewStream(true)
	}
	for _, s := range stops {
		a.stops = append(a.stops, []byte(s))
	}
	return a
}

// full reports whether the answer has all the tokens that it may have.
func (a *answer) full() bool { return a.limit > 0 && len(a.ids) >= a.limit }

// decided reports whether a stop text cuts the answer, whatever follows.
func (a *answer) decided() bool { return a.match >= 0 && (a.ended || a.held >= a.match) }

// push appends a token.
func (a *answer) push(id int32) {
	a.ids = append(a.ids, id)
	if a.stream == nil {
		return
	}
	text, _ := a.stream.Push(id)
	a.grow(text)
	if len(a.stops) > 0 {
		a.ends = append(a.ends, len(a.text))
	}
}

// pushAll appends tokens until the answer is full or decided.
func (a *answer) pushAll(ids []int32) {
	for _, id := range ids {
		if a.full() || a.decided() {
			return
		}
		a.push(id)
	}
}

// grow appends text and looks for stop texts that end in it.
func (a *answer) grow(text string) {
	if text == "" {
		return
	}
	before := len(a.text)
	a.text = append(a.text, text...)
	a.held = len(a.text)
	for _, stop := range a.stops {
		from := max(0, before-len(stop)+1)
		if i := bytes.Index(a.text[from:], stop); i >= 0 && (a.match < 0 || from+i < a.match) {
			a.match = from + i
		}
		for i := max(0, len(a.text)-len(stop)+1); i < a.held; i++ {
			if bytes.HasPrefix(stop, a.text[i:]) {
				a.held = i
			}
		}
	}
}

// end makes everything final: characters that stayed incomplete are shown as
// U+FFFD, and what was held back for a stop text that did not come is text.
func (a *answer) end() {
	if a.ended {
		return
	}
	a.ended = true
	if a.stream == nil {
		return
	}
	a.grow(a.stream.Flush())
	if n := len(a.ends); n > 0 {
		a.ends[n-1] = len(a.text)
	}
}

// final is how many ids and bytes of text will not change any more.
func (a *answer) final() (ids, text int) {
	text = len(a.text)
	if !a.ended {
		text = min(text, a.held)
	}
	if a.match >= 0 {
		text = min(text, a.match)
	}
	if len(a.stops) == 0 || a.ended && a.match < 0 {
		return len(a.ids), text
	}
	if text == 0 {
		return 0, 0
	}
	return sort.SearchInts(a.ends, text) + 1, text
}

// rest reports whether something is final that was not taken.
func (a *answer) rest() bool {
	ids, text := a.final()
	return ids > a.takenIDs || text > a.takenText
}

// take returns what has become final since it was last called.
func (a *answer) take() (ids []int32, text string) {
	n, end := a.final()
	ids, text = a.ids[a.takenIDs:n], string(a.text[a.takenText:end])
	a.takenIDs, a.takenText = n, end
	return ids, text
}

// whole returns all that is final.
func (a *answer) whole() (ids []int32, text string) {
	n, end := a.final()
	return a.ids[:n:n], string(a.text[:end])
}
