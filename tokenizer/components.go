package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/frescolm/fresco/internal/jsonfile"
)

// space is what the normalizer writes for " " and the decoder reads as " ".
const space = "\u2581"

// pattern is the pattern of a Replace or Split.
type pattern struct {
	String *string
	Regex  *string
}

func (p pattern) is(s string) bool { return p.Regex == nil && p.String != nil && *p.String == s }

// componentType returns the "type" of a component, "null" when the component
// is null or absent.
func componentType(raw []byte) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "null", nil
	}
	if raw[0] != '{' {
		return "", errors.New("want an object")
	}
	var head struct{ Type *string }
	if err := jsonfile.Unmarshal(raw, &head); err != nil {
		return "", err
	}
	if head.Type == nil {
		return "", errors.New("type is missing")
	}
	return *head.Type, nil
}

// unsupportedType is the error for a component of another type.
func unsupportedType(typ string) error {
	if typ == "null" {
		return unsupported(typ)
	}
	return unsupported(quote(typ))
}

// replace is a Replace as normalizer and as decoder.
type replace struct {
	Type    string
	Pattern pattern
	Content string
}

func checkReplace(raw []byte, from, to string) error {
	var r replace
	if err := jsonfile.Strict(raw, &r); err != nil {
		return err
	}
	if !r.Pattern.is(from) || r.Content != to {
		return fmt.Errorf("only a Replace of %q by %q is supported", from, to)
	}
	return nil
}

func checkNormalizer(raw []byte) error {
	typ, err := componentType(raw)
	if err != nil {
		return err
	}
	if typ != "Replace" {
		return inField("type", unsupportedType(typ))
	}
	return checkReplace(raw, " ", space)
}

// checkPreTokenizer accepts none, or a split on the " " that the normalizer
// has left none of.
func checkPreTokenizer(raw []byte) error {
	typ, err := componentType(raw)
	if err != nil || typ == "null" {
		return err
	}
	if typ != "Split" {
		return inField("type", unsupportedType(typ))
	}
	var s struct {
		Type     string
		Pattern  pattern
		Behavior string
		Invert   bool
	}
	if err := jsonfile.Strict(raw, &s); err != nil {
		return err
	}
	if !s.Pattern.is(" ") || s.Invert {
		return errors.New(`only a Split on " " that is not inverted is supported`)
	}
	return nil
}

// checkDecoder accepts the sequence Replace, ByteFallback, Fuse.
func checkDecoder(raw []byte) error {
	typ, err := componentType(raw)
	if err != nil {
		return err
	}
	if typ != "Sequence" {
		return inField("type", unsupportedType(typ))
	}
	var s struct {
		Type     string
		Decoders []json.RawMessage
	}
	if err := jsonfile.Strict(raw, &s); err != nil {
		return err
	}
	want := []string{"Replace", "ByteFallback", "Fuse"}
	for i, part := range s.Decoders {
		typ, err := componentType(part)
		if err == nil && (i >= len(want) || typ != want[i]) {
			err = inField("type", unsupportedType(typ))
		}
		if err == nil && i == 0 {
			err = checkReplace(part, space, " ")
		} else if err == nil {
			err = jsonfile.Strict(part, &struct{ Type string }{})
		}
		if err != nil {
			return inField(fmt.Sprintf("decoders[%d]", i), err)
		}
	}
	if len(s.Decoders) < len(want) {
		return inField("decoders", fmt.Errorf("%s is missing", want[len(s.Decoders)]))
	}
	return nil
}

// templatePart is one part of a TemplateProcessing: a special token or the
// text.
type templatePart struct {
	SpecialToken *struct {
		ID     string
		TypeID int `json:"type_id"`
	}
	Sequence *struct {
		ID     string
		TypeID int `json:"type_id"`
	}
}

// addedBOS is the token that the post-processor puts before a text.
type addedBOS struct {
	content string
	id      int64
}

// readPostProcessor returns the token that goes before a text, nil for none.
// Only what it says of one text is read.
func readPostProcessor(raw []byte) (*addedBOS, error) {
	typ, err := componentType(raw)
	if err != nil || typ == "null" {
		return nil, err
	}
	if typ != "TemplateProcessing" {
		return nil, inField("type", unsupportedType(typ))
	}
	var p struct {
		Type          string
		Single        []templatePart
		Pair          json.RawMessage
		SpecialTokens map[string]struct {
			ID     string
			IDs    []int64
			Tokens []string
		} `json:"special_tokens"`
	}
	if err := jsonfile.Strict(raw, &p); err != nil {
		return nil, err
	}
	var bos *addedBOS
	text := false
	for i, part := range p.Single {
		switch s, q := part.SpecialToken, part.Sequence; {
		case s != nil && q == nil && !text && bos == nil:
			def, ok := p.SpecialTokens[s.ID]
			if !ok || len(def.IDs) != 1 || len(def.Tokens) != 1 {
				return nil, inField("special_tokens", fmt.Errorf("%s does not stand for exactly one token", quote(s.ID)))
			}
			bos = &addedBOS{content: def.Tokens[0], id: def.IDs[0]}
		case s == nil && q != nil && !text && q.ID == "A":
			text = true
		default:
			return nil, inField(fmt.Sprintf("single[%d]", i), errors.New("only one special token, then the text, is supported"))
		}
	}
	if !text {
		return nil, inField("single", errors.New("the text is missing"))
	}
	return bos, nil
}

// checkPadding accepts what does not pad a single text.
func checkPadding(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	var p struct {
		Strategy json.RawMessage
		Multiple *int64 `json:"pad_to_multiple_of"`
	}
	if err := jsonfile.Unmarshal(raw, &p); err != nil {
		return err
	}
	if string(p.Strategy) != `"BatchLongest"` || p.Multiple != nil {
		return unsupported("of a single text")
	}
	return nil
}
