package gguf

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cursor walks over the bytes of a file. What it returns are views of them.
type cursor struct {
	file []byte
	at   int // ≤ len(file)
}

func (c *cursor) left() int { return len(c.file) - c.at }

// errorf says what is wrong with the number or text at byte at.
func errorf(at int, format string, args ...any) error {
	return fmt.Errorf("at byte %d: %w", at, fmt.Errorf(format, args...))
}

// take returns the next n bytes; what they are stands in the error.
func (c *cursor) take(n int, what string) ([]byte, error) {
	if n > c.left() {
		return nil, errorf(c.at, "truncated: %s needs %s, %d are left", what, count(n, "byte"), c.left())
	}
	b := c.file[c.at : c.at+n : c.at+n]
	c.at += n
	return b, nil
}

func (c *cursor) u32(what string) (uint32, error) {
	b, err := c.take(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) u64(what string) (uint64, error) {
	b, err := c.take(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// text returns a string: its length in 64 bits, then its bytes.
func (c *cursor) text(what string) ([]byte, error) {
	at := c.at
	n, err := c.u64("the length of " + what)
	if err != nil {
		return nil, err
	}
	if n > uint64(c.left()) {
		return nil, errorf(at, "string length %d of %s: only %s follow", n, what, count(c.left(), "byte"))
	}
	return c.take(int(n), what)
}

// count writes a number and its unit, in the plural but for 1.
func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// label gives a key or name from a file as error texts show it: as it is where
// it is plain, quoted where it could mislead or garble a terminal, cut where it
// is too long.
func label(name string) string {
	const limit = 200
	cut := ""
	if len(name) > limit {
		name, cut = name[:limit], "…"
	}
	plain := name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return r == ' ' || r == '"' || !strconv.IsPrint(r)
	})
	if !plain {
		name = strconv.Quote(name)
	}
	return name + cut
}
