package chat

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/frescolm/fresco/internal/jsonfile"
	"github.com/frescolm/fresco/internal/sudoku"
)

// Task is the form of a checkpoint that was trained for one task. Input of the
// task's kind is written canonically, with a heading before it; everything else
// is passed on as it is.
type Task struct {
	// Heading goes before the input. Input that starts with it already is
	// treated as what follows it.
	Heading string
	// Pattern matches bare input of the task's kind.
	Pattern *regexp.Regexp
	// End is what the input ends with; it is added where it is missing.
	End string

	kind *kind
}

// A kind is what the program itself knows about a kind of input.
type kind struct {
	// canonical writes input in the one notation that the model was trained
	// with; ok is false when the text is no input of this kind.
	canonical func(text string) (canonical string, ok bool)
	// check says what is wrong with an answer, "" for nothing.
	check func(input, answer string) (problem string)
}

// kinds lists them by the name that prompt.json gives.
var kinds = map[string]*kind{
	"sudoku": {
		canonical: func(text string) (string, bool) {
			g, err := sudoku.Read(text)
			return g.String(), err == nil
		},
		check: func(input, answer string) string { return sudoku.Check(input, answer).Problem },
	},
}

// taskFile is prompt.json.
type taskFile struct {
	// Form is "task", the only form that needs a file.
	Form string `json:"form"`
	// Heading, Pattern (RE2 syntax) and End are those of Task.
	Heading string `json:"heading"`
	Pattern string `json:"pattern"`
	End     string `json:"end"`
	// Kind names what the program knows about the input: how to write it
	// canonically and how to check an answer. Optional; "sudoku" is known.
	Kind string `json:"kind"`
}

// ParseTask reads the form from the content of prompt.json.
func ParseTask(data []byte) (Task, error) {
	var f taskFile
	if err := jsonfile.Strict(data, &f); err != nil {
		return Task{}, err
	}
	switch {
	case f.Form != "task":
		return Task{}, fmt.Errorf("form %q is not known (known: task)", f.Form)
	case f.Heading == "":
		return Task{}, errors.New("heading is missing")
	case f.Pattern == "":
		return Task{}, errors.New("pattern is missing")
	}
	pattern, err := regexp.Compile(f.Pattern)
	if err != nil {
		return Task{}, fmt.Errorf("pattern: %w", err)
	}
	t := Task{Heading: f.Heading, Pattern: pattern, End: f.End}
	if f.Kind != "" {
		if t.kind = kinds[f.Kind]; t.kind == nil {
			return Task{}, fmt.Errorf("kind %q is not known (known: sudoku)", f.Kind)
		}
	}
	return t, nil
}

// Name returns "task".
func (Task) Name() string { return "task" }

// Prompt returns heading and input when text is input of the task's kind, with
// or without the heading, and else text itself. Special tokens that text spells
// out are text.
func (t Task) Prompt(text string) Prompt {
	if input, ok := t.input(text); ok {
		text = t.Heading + input
	}
	return Prompt{BOS: true, Segments: []Segment{{Text: text}}}
}

// Check says what is wrong with the model's answer to a text, "" for nothing.
// ok is false when that cannot be told: the text is no input of the task's
// kind, or there is no check for it.
func (t Task) Check(text, answer string) (problem string, ok bool) {
	input, ok := t.input(text)
	if !ok || t.kind == nil {
		return "", false
	}
	return t.kind.check(input, answer), true
}

// input returns the input that text holds, in the notation that goes behind the
// heading.
func (t Task) input(text string) (input string, ok bool) {
	input = text
	if rest, headed := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), t.Heading); headed {
		input = rest
	}
	if !t.Pattern.MatchString(input) {
		return "", false
	}
	if t.kind != nil {
		if input, ok = t.kind.canonical(input); !ok {
			return "", false
		}
	}
	if !strings.HasSuffix(input, t.End) {
		input += t.End
	}
	return input, true
}
