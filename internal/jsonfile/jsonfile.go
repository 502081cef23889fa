package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Unmarshal decodes data, which must be one JSON value, into v as encoding/json
// does. Errors of encoding/json are put into other words; those of an
// UnmarshalJSON of v are passed on.
func Unmarshal(data []byte, v any) error {
	return explain(json.Unmarshal(data, v), data)
}

// Strict is Unmarshal for files of which every key has a meaning: a key that v
// has no field for is an error.
func Strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return explain(err, data)
	}
	at := d.InputOffset()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("byte %d: more after the value", at)
	}
	return nil
}

// byteOrderMark is what some editors put before UTF-8.
const byteOrderMark = "\ufeff"

func explain(err error, data []byte) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case bytes.HasPrefix(data, []byte(byteOrderMark)):
		return errors.New("byte 0: a byte order mark, which JSON does not have")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return endsEarly(data)
	case errors.As(err, &syntax):
		if syntax.Offset >= int64(len(data)) && strings.HasPrefix(syntax.Error(), "unexpected end") {
			return endsEarly(data)
		}
		return fmt.Errorf("byte %d: %w", max(0, syntax.Offset-1), syntax)
	case errors.As(err, &mismatch):
		return explainMismatch(mismatch)
	}
	const unknown = "json: unknown field "
	if key, ok := strings.CutPrefix(err.Error(), unknown); ok {
		return fmt.Errorf("key %s is not known", key)
	}
	return err
}

func endsEarly(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the file is empty")
	}
	return fmt.Errorf("byte %d: the JSON ends early", len(data))
}

// explainMismatch says what was found in the place of what.
func explainMismatch(e *json.UnmarshalTypeError) error {
	key := ""
	if e.Field != "" {
		key = e.Field + ": "
	}
	found, isNumber := strings.CutPrefix(e.Value, "number ")
	kind := e.Type.Kind()
	if isNumber && (isFloat(kind) || isInteger(kind) && strings.Trim(found, "-0123456789") == "") {
		return fmt.Errorf("%s%s is out of range", key, found)
	}
	if !isNumber {
		found = withArticle(e.Value)
	}
	return fmt.Errorf("%swant %s, found %s", key, wanted(kind), found)
}

func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// wanted names what a Go value is decoded from.
func wanted(k reflect.Kind) string {
	switch {
	case isInteger(k):
		return "a whole number"
	case isFloat(k):
		return "a number"
	case k == reflect.String:
		return "a text"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Slice || k == reflect.Array:
		return "a list"
	}
	return "an object"
}

// withArticle puts encoding/json's name of a kind of value into a sentence.
func withArticle(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	}
	return "a " + value
}
