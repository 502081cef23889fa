package chat

import (
	"strings"
	"unicode"

	"github.com/frescolm/fresco/tokenizer"
)

// A Form is a way to write a prompt: Task, Turns or Raw.
type Form interface {
	// Name is "task", "turns" or "raw".
	Name() string
	// Prompt writes the prompt for a text. Every text has one.
	Prompt(text string) Prompt
}

// A Prompt is a text ready to be encoded.
type Prompt struct {
	// BOS asks for the token that the tokenizer's post-processor puts before a
	// text; where it puts none, there is none.
	BOS      bool
	Segments []Segment
}

// A Segment is a run of text of one kind.
type Segment struct {
	Text string
	// Control marks text in which a spelled-out special token is that token.
	// Elsewhere it is the characters that it is written with.
	Control bool
}

// String returns the text of all segments.
func (p Prompt) String() string {
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Encode returns the token ids of a prompt. Segments are encoded one by one.
func Encode(tok *tokenizer.Tokenizer, p Prompt) []int32 {
	ids := tok.Encode("", tokenizer.EncodeOptions{AddSpecial: p.BOS})
	for _, s := range p.Segments {
		ids = append(ids, tok.Encode(s.Text, tokenizer.EncodeOptions{SpecialAsText: !s.Control})...)
	}
	return ids
}

// Raw passes text on as it is. Special tokens that it spells out count.
type Raw struct{}

// Name returns "raw".
func (Raw) Name() string { return "raw" }

// Prompt returns the text as control text, after the post-processor's token.
func (Raw) Prompt(text string) Prompt {
	return Prompt{BOS: true, Segments: []Segment{{Text: text, Control: true}}}
}

// The markers of Gemma's turns, all of them special tokens.
const (
	bos          = "<bos>"
	turnOpen     = "<|turn>"
	turnClose    = "<turn|>"
	channelOpen  = "<|channel>"
	channelClose = "<channel|>"
)

// Turns is the form of Gemma's chat checkpoints: one user turn, then the
// opening of the model's.
type Turns struct {
	// EmptyThought puts an empty thought channel before the answer, which says
	// that the model shall not think first. The checkpoint's own chat template
	// decides.
	EmptyThought bool
}

// Name returns "turns".
func (Turns) Name() string { return "turns" }

// Prompt returns the turns with the trimmed text as the user's message.
func (f Turns) Prompt(text string) Prompt {
	after := turnClose + "\n" + turnOpen + "model\n"
	if f.EmptyThought {
		after += channelOpen + "thought\n" + channelClose
	}
	return Prompt{Segments: []Segment{
		{Text: bos + turnOpen + "user\n", Control: true},
		{Text: strings.TrimFunc(text, isPythonSpace)},
		{Text: after, Control: true},
	}}
}

// markers lists the special tokens that the form needs.
func (f Turns) markers() []string {
	if f.EmptyThought {
		return []string{bos, turnOpen, turnClose, channelOpen, channelClose}
	}
	return []string{bos, turnOpen, turnClose}
}

// isPythonSpace reports whether Python's str.strip removes a character: Go's
// white space and the four separators U+001C … U+001F.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
