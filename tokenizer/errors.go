package tokenizer

import (
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"
)

// UnknownIDError says that an id has no token.
type UnknownIDError struct {
	ID    int32
	Index int // its place among the ids that were checked
	Size  int // of the tokenizer
}

func (e *UnknownIDError) Error() string {
	return fmt.Sprintf("tokenizer: id %d at index %d has no token (%d ids)", e.ID, e.Index, e.Size)
}

// pathError names the path once, also where the file system's error has it.
func pathError(path string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("tokenizer: %s: %w", path, err)
}

// unsupported is the value of a field that this package does not implement.
type unsupported string

func (u unsupported) Error() string { return string(u) + " is not supported" }

// fieldError is an error at a field of the file, such as model.merges[3].
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string {
	if _, ok := e.err.(unsupported); ok {
		return e.path + " " + e.err.Error()
	}
	return e.path + ": " + e.err.Error()
}

func (e *fieldError) Unwrap() error { return e.err }

// inField says that err is at the field name, or inside it. A name in square
// brackets is an element.
func inField(name string, err error) error {
	inner, ok := err.(*fieldError)
	switch {
	case err == nil:
		return nil
	case !ok:
		return &fieldError{path: name, err: err}
	case inner.path[0] == '[':
		return &fieldError{path: name + inner.path, err: inner.err}
	default:
		return &fieldError{path: name + "." + inner.path, err: inner.err}
	}
}

// quote quotes a string of the file for an error, and cuts a long one.
func quote(s string) string {
	if short := shorten(s); len(short) < len(s) {
		return fmt.Sprintf("%q…", short)
	}
	return fmt.Sprintf("%q", s)
}

// shorten cuts a long string of the file behind a whole character; one that is no
// UTF-8 may have none to cut behind, and is cut anywhere.
func shorten(s string) string {
	const most = 48
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
