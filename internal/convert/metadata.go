package convert

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/models"
)

// Keys that are written here; those of the architecture come with the export.
const (
	nameKey     = "general.name"
	fileTypeKey = "general.file_type"
	versionKey  = "general.quantization_version"
	templateKey = "tokenizer.chat_template"
	tokenizerIs = "tokenizer.ggml."
)

// quantVersion is ggml's number for the layouts of blocks that package quant
// writes.
const quantVersion = 2

// metadata is what goes in front of the tensors, and what a person should know
// about it.
func metadata(s *models.Source, p plan) (list []gguf.KeyValue, notes []string) {
	list = slices.Clone(s.Metadata)
	add := func(key string, value any) { list = append(list, gguf.KeyValue{Key: key, Value: value}) }
	add(fileTypeKey, p.fileType)
	add(versionKey, uint32(quantVersion))
	if file := s.Checkpoint.GGUF(); file != nil {
		return carried(list, file.Metadata())
	}
	add(nameKey, strings.TrimSuffix(filepath.Base(s.Name), filepath.Ext(s.Name)))
	tokens, notes := tokenizerKeys(s)
	list = append(list, tokens...)
	if s.Template != "" {
		add(templateKey, s.Template)
	}
	if s.Task {
		notes = append(notes, "prompt.json has no place in a GGUF file: the result takes the whole prompt that the model was trained on, heading included, with --raw")
	}
	return list, notes
}

// carried appends what a GGUF source says of itself and of its tokenizer, and names
// the keys that mean nothing here.
func carried(list, source []gguf.KeyValue) (all []gguf.KeyValue, notes []string) {
	var dropped []string
	for _, kv := range source {
		switch {
		case slices.ContainsFunc(list, func(have gguf.KeyValue) bool { return have.Key == kv.Key }):
		case kv.Key == "general.alignment", strings.HasPrefix(kv.Key, "split."):
			// They are about the file, not about the model.
		case strings.HasPrefix(kv.Key, "general."), strings.HasPrefix(kv.Key, "tokenizer."):
			list = append(list, kv)
		default:
			dropped = append(dropped, kv.Key)
		}
	}
	if len(dropped) > 0 {
		notes = append(notes, "keys without a meaning here are left out: "+strings.Join(dropped, ", "))
	}
	return list, notes
}

// tokenizerKeys tells the tokenizer of a folder in its parts, and the special ids.
func tokenizerKeys(s *models.Source) (list []gguf.KeyValue, notes []string) {
	add := func(key string, value any) { list = append(list, gguf.KeyValue{Key: tokenizerIs + key, Value: value}) }
	special := s.Config.Tokens
	bos, addBOS := special.BOS, false
	var tokens []string
	if s.Tokenizer == nil {
		add("model", "no_vocab")
	} else if parts, err := s.Tokenizer.Parts(); err != nil {
		add("model", "no_vocab")
		notes = append(notes, fmt.Sprintf("the tokenizer is left out, prompts and answers will be token ids: %v", err))
	} else {
		tokens = parts.Tokens
		add("model", "gemma4")
		add("tokens", tokens)
		types := make([]int32, len(parts.Types))
		for i, t := range parts.Types {
			types[i] = int32(t)
		}
		add("token_type", types)
		add("merges", parts.Merges)
		if parts.BOS >= 0 {
			if bos >= 0 && bos != parts.BOS {
				notes = append(notes, fmt.Sprintf("the configuration's bos_token_id %d gives way to the tokenizer's %d: a GGUF file has one", bos, parts.BOS))
			}
			bos, addBOS = parts.BOS, parts.AddBOS
		}
		add("add_bos_token", addBOS)
		add("add_eos_token", false)
		add("add_space_prefix", false)
	}
	if bos >= 0 {
		add("bos_token_id", uint32(bos))
	}
	if special.Pad >= 0 {
		add("padding_token_id", uint32(special.Pad))
	}
	keys := []string{"eos_token_id", "eot_token_id", "eom_token_id"}
	for i, id := range special.End {
		if i == len(keys) {
			break // readBack tells of it
		}
		add(keys[i], uint32(id))
	}
	return list, notes
}
