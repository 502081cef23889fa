package tokenizer

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShorten: a long string is cut behind a whole character, and one of bytes
// that begin no character is cut all the same.
func TestShorten(t *testing.T) {
	for _, s := range []string{
		"short", strings.Repeat("a", 100), strings.Repeat("é", 100), strings.Repeat("\u20ac", 100),
		strings.Repeat("\U0001f600", 100), strings.Repeat("\x80", 100), "a" + strings.Repeat("\xbf", 100),
	} {
		got := shorten(s)
		if !strings.HasPrefix(s, got) || len(got) > 48 || len(s) > 48 && len(got) < 44 {
			t.Errorf("%q is shortened to %q", s, got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q is cut inside a character: %q", s, got)
		}
	}
}
