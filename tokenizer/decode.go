package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Decode returns the text of ids; skipSpecial leaves out special tokens. See
// the package comment for the rules. An id without a token gives U+FFFD; call
// Check first where that has to be an error.
func (t *Tokenizer) Decode(ids []int32, skipSpecial bool) string {
	var text, run []byte
	endRun := func() {
		if utf8.Valid(run) {
			text = append(text, run...)
		} else {
			text = appendReplacements(text, len(run))
		}
		run = run[:0]
	}
	for _, id := range ids {
		if skipSpecial && t.IsSpecial(id) {
			continue
		}
		piece, ok := t.Token(id)
		if b, isByte := byteOf(piece); isByte {
			run = append(run, b)
			continue
		}
		endRun()
		text = appendPiece(text, piece, ok)
	}
	endRun()
	return string(text)
}

// byteOf returns the byte of a byte token.
func byteOf(piece string) (b byte, ok bool) {
	if len(piece) != 6 || piece[:3] != "<0x" || piece[5] != '>' {
		return 0, false
	}
	high, okHigh := hexDigit(piece[3])
	low, okLow := hexDigit(piece[4])
	return high<<4 | low, okHigh && okLow
}

// appendPiece appends the text of a token that is no byte token; ok is whether
// there is a token.
func appendPiece(text []byte, piece string, ok bool) []byte {
	if !ok {
		return append(text, replacement...)
	}
	for {
		before, after, found := strings.Cut(piece, space)
		text = append(text, before...)
		if !found {
			return text
		}
		text = append(text, ' ')
		piece = after
	}
}

func appendReplacements(text []byte, n int) []byte {
	for range n {
		text = append(text, replacement...)
	}
	return text
}
