package models

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/tokenizer"
)

// Keys of a GGUF file.
const (
	tokenizerPrefix = "tokenizer.ggml."
	templateKey     = "tokenizer.chat_template"
)

// tokenizerModel is the only kind of tokenizer in a GGUF file that is read.
const tokenizerModel = "gemma4"

// tokenizerSource names where a checkpoint has its tokenizer.
func tokenizerSource(c *weights.Checkpoint) string {
	if c.GGUF() != nil {
		return "tokenizer in the metadata"
	}
	return "tokenizer.json"
}

// atKey makes an error of package gguf, which names file and key, one about the
// key alone: a RejectedError names the file.
func atKey(key string, err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return fmt.Errorf("key %s: %w", key, err)
}

// ggufArchitecture resolves the general.architecture of a GGUF file.
func ggufArchitecture(c *weights.Checkpoint, file *gguf.File) (model.Architecture, error) {
	name, err := file.Architecture()
	if err != nil {
		return model.Architecture{}, &weights.RejectedError{Path: c.Name(), Err: atKey("general.architecture", err)}
	}
	architecture, err := registry.LookupGGUF(name)
	if err != nil {
		return model.Architecture{}, &weights.RejectedError{Path: c.Name(), Err: err}
	}
	return architecture, nil
}

// ggufTokenizer makes a tokenizer of the metadata; nil when there is none.
func ggufTokenizer(file *gguf.File) (*tokenizer.Tokenizer, error) {
	if !file.Has(tokenizerPrefix+"model") && !file.Has(tokenizerPrefix+"tokens") {
		return nil, nil
	}
	r := &keyReader{}
	kind := read(r, tokenizerPrefix+"model", file.String)
	if r.err == nil && kind == "no_vocab" {
		return nil, nil
	}
	if r.err == nil && kind != tokenizerModel {
		return nil, fmt.Errorf("key %smodel: the tokenizer %q is not supported (supported: %s)", tokenizerPrefix, kind, tokenizerModel)
	}
	p := tokenizer.Parts{
		BOS:    -1,
		Tokens: read(r, tokenizerPrefix+"tokens", file.Strings),
		Merges: read(r, tokenizerPrefix+"merges", file.Strings),
	}
	for _, typ := range read(r, tokenizerPrefix+"token_type", file.Ints) {
		p.Types = append(p.Types, tokenizer.TokenType(typ))
	}
	if key := tokenizerPrefix + "bos_token_id"; file.Has(key) {
		id := read(r, key, file.Int)
		if r.err == nil && (id < 0 || id >= int64(len(p.Tokens))) {
			return nil, fmt.Errorf("key %s: id %d is beyond the %d tokens", key, id, len(p.Tokens))
		}
		p.BOS = int32(id)
		p.AddBOS = true // unless the file says otherwise
	}
	if key := tokenizerPrefix + "add_bos_token"; file.Has(key) {
		p.AddBOS = read(r, key, file.Bool)
	}
	for _, name := range []string{"add_eos_token", "add_space_prefix"} {
		if key := tokenizerPrefix + name; file.Has(key) && read(r, key, file.Bool) {
			return nil, fmt.Errorf("key %s: true is not supported", key)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return tokenizer.FromParts(p)
}

// keyReader keeps the first error over many keys.
type keyReader struct{ err error }

// read reads a key with one of the file's getters.
func read[T any](r *keyReader, key string, get func(string) (T, error)) T {
	v, err := get(key)
	if err != nil && r.err == nil {
		r.err = atKey(key, err)
	}
	return v
}

// checkGGUFSpecial refuses a special id of the metadata that no row or no token
// stands for.
func checkGGUFSpecial(file *gguf.File, tok *tokenizer.Tokenizer, rows int) error {
	for _, key := range file.Keys() {
		if !strings.HasPrefix(key, tokenizerPrefix) || !strings.HasSuffix(key, "_token_id") {
			continue
		}
		id, err := file.Int(key)
		if err == nil {
			err = checkID(id, tok, rows)
		}
		if err != nil {
			return atKey(key, err)
		}
	}
	return nil
}

// promptFiles is where the prompt form is looked for: a GGUF file has the template
// in its metadata.
func promptFiles(c *weights.Checkpoint) chat.Files {
	if file := c.GGUF(); file != nil {
		return ggufTemplate{file}
	}
	return c
}

type ggufTemplate struct{ file *gguf.File }

// ReadFile implements chat.Files.
func (t ggufTemplate) ReadFile(name string) ([]byte, error) {
	if name != chat.TemplateFile || !t.file.Has(templateKey) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	text, err := t.file.String(templateKey)
	if err != nil {
		return nil, atKey(templateKey, err)
	}
	return []byte(text), nil
}
