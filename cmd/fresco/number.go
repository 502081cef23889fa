package main

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/frescolm/fresco"
)

var errNoNumber = errors.New("the number is missing")

// settingMapper parses a real number. Tags bound it: min and max include the
// bound, above does not; off allows the word off, whole only whole numbers.
type settingMapper struct{}

// maxReal bounds every real number of the command line; beyond it float32 no
// longer tells values apart that matter.
const maxReal = 1e6

func (settingMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	tag := ctx.Value.Tag
	if text == "off" && tag.Has("off") {
		target.Set(reflect.ValueOf(fresco.Off()))
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return errNoNumber
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is too large", text)
	case err != nil && tag.Has("off"):
		return fmt.Errorf("%q is neither a number nor off", text)
	case err != nil, strings.ContainsAny(text, "xXpP_"):
		return fmt.Errorf("%q is not a number", text)
	case math.IsNaN(v):
		return errors.New("NaN is not a number")
	case tag.Has("whole") && v != math.Trunc(v):
		return fmt.Errorf("%s is not a whole number", text)
	}
	if err := bounded(tag, text, v); err != nil {
		return err
	}
	target.Set(reflect.ValueOf(fresco.Value(v)))
	return nil
}

// bounded checks a number against the tags of its flag.
func bounded(tag *kong.Tag, text string, v float64) error {
	for _, bound := range []struct {
		tag   string
		fails func(limit float64) bool
		words string
	}{
		{"above", func(limit float64) bool { return v <= limit }, "must be above"},
		{"min", func(limit float64) bool { return v < limit }, "must be at least"},
		{"max", func(limit float64) bool { return v > limit }, "must be at most"},
	} {
		if !tag.Has(bound.tag) {
			continue
		}
		limit, err := tag.GetFloat(bound.tag)
		if err != nil {
			return err
		}
		if bound.fails(limit) {
			return fmt.Errorf("%s %s %s", text, bound.words, tag.Get(bound.tag))
		}
	}
	if v > maxReal {
		return fmt.Errorf("%s must be at most %d", text, int64(maxReal))
	}
	return nil
}

// whole is a whole number that may be absent.
type whole struct {
	n   int
	set bool
}

// wholeMapper parses a whole number, by the tags min (1 when absent) and max.
type wholeMapper struct{}

func (wholeMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	low, high := int64(1), int64(math.MaxInt32)
	for tag, limit := range map[string]*int64{"min": &low, "max": &high} {
		if ctx.Value.Tag.Has(tag) {
			v, err := ctx.Value.Tag.GetInt(tag)
			if err != nil {
				return err
			}
			*limit = v
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case text == "":
		return errNoNumber
	case errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-"), err == nil && n > high:
		return fmt.Errorf("%s must be at most %d", text, high)
	case errors.Is(err, strconv.ErrRange), err == nil && n < low:
		return fmt.Errorf("%s must be at least %d", text, low)
	case err != nil:
		return fmt.Errorf("%q is not a whole number", text)
	}
	target.Set(reflect.ValueOf(whole{int(n), true}))
	return nil
}

// A seed is any number of 64 bits.
type seed struct{ value *uint64 }

// UnmarshalText reads the decimal form.
func (s *seed) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s must be at most %d", text, uint64(math.MaxUint64))
	case err != nil:
		return fmt.Errorf("%q is not a whole number of at least 0", text)
	}
	s.value = &v
	return nil
}

// ids are token ids, separated by commas.
type ids []int32

// UnmarshalText reads a list of at least one id.
func (l *ids) UnmarshalText(text []byte) error {
	for i, field := range strings.Split(string(text), ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(field), 10, 32)
		if err != nil || id < 0 {
			return fmt.Errorf("entry %d, %q, is not a token id", i+1, strings.TrimSpace(field))
		}
		*l = append(*l, int32(id))
	}
	return nil
}

// A choice is one of the words of its tag "of", or absent.
type choice string

// choiceMapper parses a choice.
type choiceMapper struct{}

func (choiceMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("word", &text); err != nil {
		return err
	}
	words := strings.Split(ctx.Value.Tag.Get("of"), ",")
	if !slices.Contains(words, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
	}
	target.SetString(text)
	return nil
}
