package tokenizer

import (
	"bytes"
	"unicode/utf8"
)

// Stream decodes ids that come one at a time. The texts it returns, joined,
// are the text that Decode gives for all the ids, but for one case: bytes that
// made whole characters and were shown stay shown when a later byte of the
// same run breaks the run, for which Decode then gives U+FFFD throughout.
//
// A Stream is not safe for concurrent use.
type Stream struct {
	t           *Tokenizer
	skipSpecial bool

	text    []byte // complete but not shown, for it ends with U+FFFD
	run     []byte // bytes of the open run that are not shown
	checked int    // bytes of run that are whole characters
	broken  bool   // run[checked:] cannot become valid any more
}

// NewStream returns a decoder for one sequence of ids; skipSpecial leaves out
// special tokens.
func (t *Tokenizer) NewStream(skipSpecial bool) *Stream {
	return &Stream{t: t, skipSpecial: skipSpecial}
}

// Push takes the next id and returns the text that can be shown now. ok is
// false where that is none: inside a character, and as long as the text ends
// with U+FFFD, for more bytes may still make it a character. An id without a
// token counts as U+FFFD.
func (s *Stream) Push(id int32) (text string, ok bool) {
	if s.skipSpecial && s.t.IsSpecial(id) {
		return "", false
	}
	piece, known := s.t.Token(id)
	if b, isByte := byteOf(piece); isByte {
		s.pushByte(b)
	} else {
		s.endRun()
		s.text = appendPiece(s.text, piece, known)
	}
	if s.checked < len(s.run) {
		return "", false
	}
	ending := s.run
	if len(ending) == 0 {
		ending = s.text
	}
	if len(ending) == 0 || bytes.HasSuffix(ending, []byte(replacement)) {
		return "", false
	}
	return s.show(), true
}

// pushByte appends a byte to the open run. Each byte is looked at once.
func (s *Stream) pushByte(b byte) {
	s.run = append(s.run, b)
	for !s.broken && s.checked < len(s.run) && utf8.FullRune(s.run[s.checked:]) {
		ch, size := utf8.DecodeRune(s.run[s.checked:])
		if ch == utf8.RuneError && size == 1 {
			s.broken = true
			return
		}
		s.checked += size
	}
}

// endRun closes the run of bytes: nothing that follows can change it.
func (s *Stream) endRun() {
	if s.checked == len(s.run) {
		s.text = append(s.text, s.run...)
	} else {
		s.text = appendReplacements(s.text, len(s.run))
	}
	s.run, s.checked, s.broken = s.run[:0], 0, false
}

// show returns all that is not shown yet. The run stays open.
func (s *Stream) show() string {
	text := string(s.text) + string(s.run)
	s.text, s.run, s.checked = s.text[:0], s.run[:0], 0
	return text
}

// Flush returns the rest of the text, with one U+FFFD for each byte that made
// no character, and makes the Stream ready for another sequence.
func (s *Stream) Flush() string {
	s.endRun()
	return s.show()
}
