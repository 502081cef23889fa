package tokenizer

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a file, and so the stack that reading it
// needs.
const maxDepth = 64

// jsonReader reads JSON (RFC 8259) from memory in one pass. It exists because
// a vocabulary is one object with hundreds of thousands of members, whose
// duplicates must be seen, and whose strings are mostly looked up and not kept.
// The data must be valid UTF-8.
type jsonReader struct {
	data  []byte
	pos   int
	depth int
	buf   []byte // unescaped form of the last string that had escapes
}

// syntax returns an error at the current byte.
func (r *jsonReader) syntax(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", r.pos, fmt.Sprintf(format, args...))
}

// peek skips white space and returns the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// found names what stands at the current byte, for errors.
func (r *jsonReader) found() string {
	switch c := r.peek(); {
	case r.pos >= len(r.data):
		return "the end of the file"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	case r.at("null"):
		return "null"
	case r.at("true") || r.at("false"):
		return "a boolean"
	default:
		ch, _ := utf8.DecodeRune(r.data[r.pos:])
		return strconv.QuoteRune(ch)
	}
}

func (r *jsonReader) at(word string) bool {
	return bytes.HasPrefix(r.data[r.pos:], []byte(word))
}

func (r *jsonReader) literal(word string) bool {
	r.peek()
	if !r.at(word) {
		return false
	}
	r.pos += len(word)
	return true
}

// null consumes a null if there is one.
func (r *jsonReader) null() bool { return r.literal("null") }

func (r *jsonReader) bool() (bool, error) {
	switch {
	case r.literal("true"):
		return true, nil
	case r.literal("false"):
		return false, nil
	}
	return false, r.syntax("want a boolean, found %s", r.found())
}

// integer reads a number without fraction and exponent that fits 64 bits.
func (r *jsonReader) integer() (int64, error) {
	c := r.peek()
	if c != '-' && (c < '0' || c > '9') {
		return 0, r.syntax("want an integer, found %s", r.found())
	}
	start := r.pos
	if err := r.number(); err != nil {
		return 0, err
	}
	text := string(r.data[start:r.pos])
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.pos = start
		return 0, r.syntax("%s is not an integer of 64 bits", quote(text))
	}
	return n, nil
}

// number consumes a number of any form.
func (r *jsonReader) number() error {
	digits := func() int {
		start := r.pos
		for r.pos < len(r.data) && '0' <= r.data[r.pos] && r.data[r.pos] <= '9' {
			r.pos++
		}
		return r.pos - start
	}
	if r.at("-") {
		r.pos++
	}
	leadingZero := r.at("0")
	if n := digits(); n == 0 || leadingZero && n > 1 {
		return r.syntax("malformed number")
	}
	if r.at(".") {
		r.pos++
		if digits() == 0 {
			return r.syntax("malformed number")
		}
	}
	if r.at("e") || r.at("E") {
		r.pos++
		if r.at("+") || r.at("-") {
			r.pos++
		}
		if digits() == 0 {
			return r.syntax("malformed number")
		}
	}
	return nil
}

// str reads a string. The bytes are valid until the next call.
func (r *jsonReader) str() ([]byte, error) {
	if r.peek() != '"' {
		return nil, r.syntax("want a string, found %s", r.found())
	}
	r.pos++
	start := r.pos
	for ; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; {
		case c == '"':
			s := r.data[start:r.pos]
			r.pos++
			return s, nil
		case c == '\\':
			return r.escaped(start)
		case c < ' ':
			return nil, r.syntax("control character %#02x in a string", c)
		}
	}
	return nil, r.syntax("unterminated string")
}

// escaped reads on in a string that began at start, from its first backslash.
func (r *jsonReader) escaped(start int) ([]byte, error) {
	r.buf = append(r.buf[:0], r.data[start:r.pos]...)
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		switch {
		case c == '"':
			r.pos++
			return r.buf, nil
		case c < ' ':
			return nil, r.syntax("control character %#02x in a string", c)
		case c == '\\':
			if err := r.escape(); err != nil {
				return nil, err
			}
		default:
			r.buf = append(r.buf, c)
			r.pos++
		}
	}
	return nil, r.syntax("unterminated string")
}

// escape appends the character of one escape sequence to buf.
func (r *jsonReader) escape() error {
	if r.pos+1 >= len(r.data) {
		return r.syntax("unterminated string")
	}
	c := r.data[r.pos+1]
	if c == 'u' {
		ch, ok := r.hex4(r.pos)
		size := 6
		if ok && utf16.IsSurrogate(ch) {
			low, ok2 := r.hex4(r.pos + 6)
			ch, ok, size = utf16.DecodeRune(ch, low), ok2, 12
			ok = ok && ch != utf8.RuneError
		}
		if !ok {
			return r.syntax(`malformed \u escape or half of a surrogate pair`)
		}
		r.buf = utf8.AppendRune(r.buf, ch)
		r.pos += size
		return nil
	}
	i := bytes.IndexByte([]byte(`"\/bfnrt`), c)
	if i < 0 {
		return r.syntax("unknown escape in a string")
	}
	r.buf = append(r.buf, "\"\\/\b\f\n\r\t"[i])
	r.pos += 2
	return nil
}

// hex4 reads the \uXXXX that begins at byte at.
func (r *jsonReader) hex4(at int) (rune, bool) {
	if at+6 > len(r.data) || r.data[at] != '\\' || r.data[at+1] != 'u' {
		return 0, false
	}
	var ch rune
	for _, c := range r.data[at+2 : at+6] {
		v, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		ch = ch<<4 | rune(v)
	}
	return ch, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// object reads an object. member is called with each key, which is valid until
// member reads on, and has to consume the value. Keys may repeat.
func (r *jsonReader) object(member func(key []byte) error) error {
	return r.list('{', '}', "an object", func(int) error {
		key, err := r.str()
		if err != nil {
			return err
		}
		// A key with escapes lies in buf; looking for the colon leaves it be.
		if r.peek() != ':' {
			return r.syntax("want ':', found %s", r.found())
		}
		r.pos++
		return member(key)
	})
}

// fields reads an object with few members, each of which may occur once.
func (r *jsonReader) fields(member func(key string) error) error {
	seen := map[string]bool{}
	return r.object(func(key []byte) error {
		k := string(key)
		if seen[k] {
			return r.syntax("field %s occurs twice", quote(k))
		}
		seen[k] = true
		return member(k)
	})
}

// array reads an array. element is called with each index and has to consume
// the value.
func (r *jsonReader) array(element func(i int) error) error {
	return r.list('[', ']', "an array", element)
}

func (r *jsonReader) list(open, end byte, what string, item func(i int) error) error {
	if r.peek() != open {
		return r.syntax("want %s, found %s", what, r.found())
	}
	if r.depth++; r.depth > maxDepth {
		return r.syntax("nested deeper than %d", maxDepth)
	}
	r.pos++
	if r.peek() == end {
		r.pos++
		r.depth--
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.pos++
		case end:
			r.pos++
			r.depth--
			return nil
		default:
			return r.syntax("want ',' or %q, found %s", end, r.found())
		}
	}
}

// raw consumes a value of any kind and returns its bytes.
func (r *jsonReader) raw() ([]byte, error) {
	c := r.peek()
	start := r.pos
	var err error
	switch {
	case c == '{':
		err = r.object(func([]byte) error {
			_, err := r.raw()
			return err
		})
	case c == '[':
		err = r.array(func(int) error {
			_, err := r.raw()
			return err
		})
	case c == '"':
		_, err = r.str()
	case c == '-' || '0' <= c && c <= '9':
		err = r.number()
	case !r.null() && !r.literal("true") && !r.literal("false"):
		err = r.syntax("want a value, found %s", r.found())
	}
	return r.data[start:r.pos], err
}

// end reports an error when anything but white space follows.
func (r *jsonReader) end() error {
	if r.peek(); r.pos < len(r.data) {
		return r.syntax("want the end of the file, found %s", r.found())
	}
	return nil
}
