package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of values that are skipped.
const maxDepth = 64

// jsonTokens walks one JSON object token by token. encoding/json does the
// syntax; what it lets pass (duplicate keys, invalid UTF-8, unpaired
// surrogates, text after the value) is refused here. Errors give the byte.
type jsonTokens struct {
	raw  []byte
	base int // position of raw in the file
	at   int // start of the last token in raw
	dec  *json.Decoder
}

func newJSONTokens(raw []byte, base int) (*jsonTokens, error) {
	r := &jsonTokens{raw: raw, base: base}
	for r.at < len(raw) {
		c, n := utf8.DecodeRune(raw[r.at:])
		if c == utf8.RuneError && n == 1 {
			return nil, r.errorf("invalid UTF-8")
		}
		r.at += n
	}
	if at := unpairedSurrogate(raw); at >= 0 {
		r.at = at
		return nil, r.errorf("unpaired surrogate %q", raw[at:min(at+6, len(raw))])
	}
	r.dec = json.NewDecoder(bytes.NewReader(raw))
	r.dec.UseNumber()
	return r, nil
}

// unpairedSurrogate returns where an escape \uD800 to \uDFFF stands that is not
// half of a pair, or -1. Broken escapes are left to encoding/json.
func unpairedSurrogate(raw []byte) int {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		c, ok := unicodeEscape(raw[i:])
		switch {
		case !ok:
			i++ // the escaped character, which may be a backslash
		case c >= 0xdc00 && c < 0xe000:
			return i
		case c >= 0xd800 && c < 0xdc00:
			if low, ok := unicodeEscape(raw[i+6:]); !ok || low < 0xdc00 || low >= 0xe000 {
				return i
			}
			i += 11
		default:
			i += 5
		}
	}
	return -1
}

// unicodeEscape reads the \uXXXX at the start of raw.
func unicodeEscape(raw []byte) (uint64, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	c, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return c, err == nil
}

// errorf makes an error at the last token.
func (r *jsonTokens) errorf(format string, args ...any) error {
	return fmt.Errorf("at byte %d: "+format, append([]any{r.base + r.at}, args...)...)
}

func (r *jsonTokens) next() (json.Token, error) {
	r.at = int(r.dec.InputOffset())
	for r.at < len(r.raw) && strings.IndexByte(" \t\r\n,:", r.raw[r.at]) >= 0 {
		r.at++
	}
	tok, err := r.dec.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, r.errorf("the JSON ends early")
	}
	if err != nil {
		return nil, r.errorf("%w", err)
	}
	return tok, nil
}

// object reads the object that what names, handing each key to member, which
// must read or skip its value.
func (r *jsonTokens) object(what string, member func(key string) error) error {
	tok, err := r.next()
	if err != nil {
		return err
	}
	if tok != json.Delim('{') {
		return r.errorf("%s is %s, not an object", what, kind(tok))
	}
	seen := map[string]bool{}
	for r.dec.More() {
		tok, err := r.next()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return r.errorf("a key of %s is %s, not a string", what, kind(tok))
		}
		if seen[key] {
			return r.errorf("duplicate key %s", label(key))
		}
		seen[key] = true
		if err := member(key); err != nil {
			return err
		}
	}
	_, err = r.next()
	return err
}

// text reads the string that what names.
func (r *jsonTokens) text(what string) (string, error) {
	tok, err := r.next()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", r.errorf("%s is %s, not a string", what, kind(tok))
	}
	return s, nil
}

// counts reads the list of whole numbers from 0 up that what names. The result
// is not nil.
func (r *jsonTokens) counts(what string) ([]uint64, error) {
	tok, err := r.next()
	if err != nil {
		return nil, err
	}
	if tok != json.Delim('[') {
		return nil, r.errorf("%s is %s, not a list of numbers", what, kind(tok))
	}
	list := []uint64{}
	for r.dec.More() {
		tok, err := r.next()
		if err != nil {
			return nil, err
		}
		number, ok := tok.(json.Number)
		if !ok {
			return nil, r.errorf("%s holds %s, not a number", what, kind(tok))
		}
		n, err := strconv.ParseUint(number.String(), 10, 64)
		if err != nil {
			return nil, r.errorf("%s holds %s, not a whole number from 0 to 2^64-1", what, label(number.String()))
		}
		list = append(list, n)
	}
	_, err = r.next()
	return list, err
}

// skip reads one value of any kind.
func (r *jsonTokens) skip() error {
	for depth := 0; ; {
		tok, err := r.next()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth {
			return r.errorf("nested deeper than %d", maxDepth)
		}
		if depth == 0 {
			return nil
		}
	}
}

// end makes sure that only white space follows.
func (r *jsonTokens) end() error {
	r.at = int(r.dec.InputOffset())
	rest := bytes.TrimLeft(r.raw[r.at:], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	r.at = len(r.raw) - len(rest)
	return r.errorf("text after the JSON object")
}

// kind names what a token begins.
func kind(tok json.Token) string {
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return "a list"
		}
		return "an object"
	case string:
		return "a string"
	case bool:
		return "a truth value"
	case nil:
		return "null"
	}
	return "a number"
}
