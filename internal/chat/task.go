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
	// assess says before any work why no answer to an input can be right, ""
	// when one can, and what the person who asks should know, "" for nothing.
	assess func(input string) (impossible, note string)
	// explain says what a text that is no input of this kind is instead.
	explain func(text string) string
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
		assess:  assessSudoku,
		explain: explainSudoku,
		check: func(input, answer string) string {
			// A line end behind the last row is no matter of the rules.
			return sudoku.Check(input, strings.TrimRight(answer, "\r\n")).Problem
		},
	},
}

func assessSudoku(input string) (impossible, note string) {
	g, err := sudoku.Read(input)
	if err != nil {
		return "", ""
	}
	impossible, ambiguous := sudoku.Assess(g)
	if ambiguous {
		note = "the puzzle has several solutions; any of them counts as solved"
	}
	return impossible, note
}

func explainSudoku(text string) string {
	if reason, near := sudoku.Explain(text); near {
		return "this is no Sudoku grid (" + reason + ")"
	}
	return "this is no Sudoku grid"
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

// Assess says what is known about a text before it is answered: impossible is
// the reason why no answer can be right, "" when one can; note is what the person
// who asks should know, "" for nothing.
func (t Task) Assess(text string) (impossible, note string) {
	if t.kind == nil {
		return "", ""
	}
	if input, ok := t.input(text); ok {
		return t.kind.assess(input)
	}
	return "", t.kind.explain(t.headless(text)) + "; the answer is not checked"
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
	input = t.headless(text)
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

// headless returns what follows the heading, or a text without one as it is.
func (t Task) headless(text string) string {
	if rest, headed := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), t.Heading); headed {
		return rest
	}
	return text
}
