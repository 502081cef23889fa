package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/frescolm/fresco/internal/jsonfile"
	"github.com/frescolm/fresco/tokenizer"
)

// Files reads the files of a checkpoint folder. An error names the file; for one
// that is not there it wraps fs.ErrNotExist.
type Files interface {
	ReadFile(name string) ([]byte, error)
}

// TemplateFile is the file with the checkpoint's chat template.
const TemplateFile = "chat_template.jinja"

// The other files that say how a checkpoint wants to be asked.
const (
	promptFile = "prompt.json"
	configFile = "tokenizer_config.json"
)

// Choose finds the form of a checkpoint: the Task of its prompt.json, else
// Gemma's turns when the tokenizer has their markers, else Raw. note, where not
// empty, is a line for the person who asked: why the text is taken as it is. An
// error names the file that could not be read.
func Choose(tok *tokenizer.Tokenizer, files Files) (form Form, note string, err error) {
	data, err := readOptional(files, promptFile)
	if err != nil {
		return nil, "", err
	}
	if data != nil {
		task, err := ParseTask(data)
		if err != nil {
			return nil, "", fmt.Errorf("chat: %s: %w", promptFile, err)
		}
		return task, "", nil
	}
	template, err := Template(files)
	if err != nil {
		return nil, "", err
	}
	turns := Turns{EmptyThought: opensEmptyThought(template)}
	var missing []string
	for _, marker := range turns.markers() {
		if id, ok := tok.TokenID(marker); !ok || !tok.IsSpecial(id) {
			missing = append(missing, marker)
		}
	}
	if len(missing) > 0 {
		return Raw{}, "the tokenizer has no " + strings.Join(missing, ", ") + ": the prompt is taken as it is (--raw)", nil
	}
	return turns, "", nil
}

// Template returns the chat template of a checkpoint, "" when it has none:
// chat_template.jinja, else the entry in tokenizer_config.json, which is a text
// or a list of named ones with one called "default".
func Template(files Files) (string, error) {
	data, err := readOptional(files, TemplateFile)
	if data != nil || err != nil {
		return string(data), err
	}
	data, err = readOptional(files, configFile)
	if data == nil || err != nil {
		return "", err
	}
	var config struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if err := jsonfile.Unmarshal(data, &config); err != nil {
		return "", fmt.Errorf("chat: %s: %w", configFile, err)
	}
	var text string
	if len(config.Template) == 0 || json.Unmarshal(config.Template, &text) == nil {
		return text, nil
	}
	var named []struct{ Name, Template string }
	if err := json.Unmarshal(config.Template, &named); err != nil {
		return "", fmt.Errorf("chat: %s: chat_template is neither a text nor a list of named templates", configFile)
	}
	for _, n := range named {
		if n.Name == "default" {
			return n.Template, nil
		}
	}
	return "", nil
}

// readOptional reads a file; nil without an error means that there is none.
func readOptional(files Files, name string) ([]byte, error) {
	data, err := files.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err // which names the file
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

var (
	// jinjaComment is text that a template never prints.
	jinjaComment = regexp.MustCompile(`(?s)\{#.*?#\}`)
	// emptyThought is a thought channel that is closed directly after its
	// opening line. The newline is the escape \n inside a Jinja string or a line
	// break outside one; the two halves may be two strings joined by + or ~.
	// Templates that print thoughts of earlier turns have the thought between
	// the halves and do not match.
	emptyThought = regexp.MustCompile(`<\|channel>thought(?:\\n|\r?\n)(?:['"]\s*[+~]\s*['"])?<channel\|>`)
)

// opensEmptyThought reports whether a chat template writes an empty thought
// channel. Of the two published templates the one of the release does (when
// thinking is off, which it is here) and the current one does not; docs/model.md
// §8.2. It is a test on the template's text, because nothing else of the template
// decides the prompt of a single user message.
func opensEmptyThought(template string) bool {
	return emptyThought.MatchString(jinjaComment.ReplaceAllString(template, ""))
}
