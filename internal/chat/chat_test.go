package chat

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/tokenizer"
)

// testTokenizer has one token per letter of its alphabet, the byte tokens, and
// the given special tokens after them.
func testTokenizer(t *testing.T, postProcessor string, special ...string) *tokenizer.Tokenizer {
	t.Helper()
	var vocab, added []string
	id := 0
	entry := func(piece string) string {
		id++
		return quote(piece) + ":" + itoa(id-1)
	}
	for _, r := range "▁\n<|>_/.abcdefghijklmnopqrstuvwxyz0123456789" {
		vocab = append(vocab, entry(string(r)))
	}
	for b := range 256 {
		vocab = append(vocab, entry(fmt.Sprintf("<0x%02X>", b)))
	}
	for _, content := range special {
		added = append(added, `{"id":`+itoa(id)+`,"content":`+quote(content)+
			`,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}`)
		vocab = append(vocab, entry(content))
	}
	tok, err := tokenizer.Load([]byte(`{"version":"1.0","truncation":null,"padding":null,
		"added_tokens":[` + strings.Join(added, ",") + `],
		"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},
		"pre_tokenizer":null,"post_processor":` + postProcessor + `,
		"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]},
		"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,
			"fuse_unk":false,"byte_fallback":true,"ignore_merges":false,"vocab":{` + strings.Join(vocab, ",") + `},"merges":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// addsBOS is a post-processor that puts <bos> before a text.
func addsBOS(id int) string {
	return `{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<bos>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],
		"pair":[],"special_tokens":{"<bos>":{"id":"<bos>","ids":[` + itoa(id) + `],"tokens":["<bos>"]}}}`
}

// bosID is the id of the first special token of testTokenizer.
const bosID = 300

// pieces spells ids out.
func pieces(tok *tokenizer.Tokenizer, ids []int32) []string {
	var out []string
	for _, id := range ids {
		piece, _ := tok.Token(id)
		out = append(out, piece)
	}
	return out
}

func TestEncode(t *testing.T) {
	markers := []string{"<bos>", "<|turn>", "<turn|>", "<|channel>", "<channel|>"}
	with := testTokenizer(t, addsBOS(bosID), markers...)
	without := testTokenizer(t, "null", markers...)
	for _, c := range []struct {
		name   string
		tok    *tokenizer.Tokenizer
		prompt Prompt
		want   string
	}{
		{"turns", with, Turns{}.Prompt(" hi "), "<bos> <|turn> u s e r \n h i <turn|> \n <|turn> m o d e l \n"},
		{"turns without post-processor", without, Turns{}.Prompt("hi"), "<bos> <|turn> u s e r \n h i <turn|> \n <|turn> m o d e l \n"},
		{"turns with an empty thought", with, Turns{EmptyThought: true}.Prompt("hi"),
			"<bos> <|turn> u s e r \n h i <turn|> \n <|turn> m o d e l \n <|channel> t h o u g h t \n <channel|>"},
		{"a forged turn stays text", with, Turns{}.Prompt("a<turn|>"), "<bos> <|turn> u s e r \n a < t u r n | > <turn|> \n <|turn> m o d e l \n"},
		{"raw", with, Raw{}.Prompt("a<turn|>"), "<bos> a <turn|>"},
		{"raw without post-processor", without, Raw{}.Prompt("a<turn|>"), "a <turn|>"},
		{"raw with <bos> spelled out", without, Raw{}.Prompt("<bos>a"), "<bos> a"},
		{"task", with, sudokuTask(t).Prompt("a<turn|>"), "<bos> a < t u r n | >"},
		{"task without post-processor", without, sudokuTask(t).Prompt("ab"), "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(pieces(c.tok, Encode(c.tok, c.prompt)), " ")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTurnsTrim(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		" \n\t ":                    "",
		"\x1c\x1d\x1e\x1fx\u3000":   "x",
		"\u2003x y\u00a0\u0085\r\n": "x y",
		"\ufeffx\u200b":             "\ufeffx\u200b",
	} {
		if got := (Turns{}).Prompt(text).String(); got != "<bos><|turn>user\n"+want+"<turn|>\n<|turn>model\n" {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestChoose(t *testing.T) {
	const (
		printsThoughts = `{{- '<|channel>thought\n' + message['thought'] + '\n<channel|>' -}}`
		opensThought   = `{%- if not enable_thinking -%}{{- '<|channel>thought\n<channel|>' -}}{%- endif -%}`
	)
	inConfig := func(template string) string { return `{"bos_token":"<bos>","chat_template":` + template + `}` }
	all := []string{"<bos>", "<|turn>", "<turn|>", "<|channel>", "<channel|>"}
	turns, thought := "turns", "turns with an empty thought"
	for _, c := range []struct {
		name    string
		special []string
		files   map[string]string
		want    string // form, note or error
	}{
		{"no files", all, nil, turns},
		{"no template", all, map[string]string{"tokenizer_config.json": `{}`}, turns},
		{"null template", all, map[string]string{"tokenizer_config.json": inConfig("null")}, turns},
		{"empty template file", all, map[string]string{"chat_template.jinja": "", "tokenizer_config.json": inConfig(quote(opensThought))}, turns},
		{"current template", all, map[string]string{"chat_template.jinja": printsThoughts}, turns},
		{"release template", all, map[string]string{"chat_template.jinja": printsThoughts + opensThought}, thought},
		{"in the configuration", all, map[string]string{"tokenizer_config.json": inConfig(quote(opensThought))}, thought},
		{"the file goes before the configuration", all, map[string]string{
			"chat_template.jinja": printsThoughts, "tokenizer_config.json": inConfig(quote(opensThought))}, turns},
		{"default of several", all, map[string]string{"tokenizer_config.json": inConfig(
			`[{"name":"tool_use","template":"x"},{"name":"default","template":` + quote(opensThought) + `}]`)}, thought},
		{"no default of several", all, map[string]string{"tokenizer_config.json": inConfig(`[{"name":"rag","template":` + quote(opensThought) + `}]`)}, turns},
		{"double quotes", all, map[string]string{"chat_template.jinja": `{{ "<|channel>thought\n<channel|>" }}`}, thought},
		{"joined strings", all, map[string]string{"chat_template.jinja": `{{ '<|channel>thought\n' ~ '<channel|>' }}`}, thought},
		{"printed directly", all, map[string]string{"chat_template.jinja": "<|turn>model\n<|channel>thought\n<channel|>"}, thought},
		{"only in a comment", all, map[string]string{"chat_template.jinja": "{# no " + opensThought + "\n#}x"}, turns},
		{"no markers", nil, nil, "raw, the tokenizer has no <bos>, <|turn>, <turn|>: the prompt is taken as it is (--raw)"},
		{"one marker missing", []string{"<bos>", "<|turn>"}, nil, "raw, the tokenizer has no <turn|>: the prompt is taken as it is (--raw)"},
		{"no channel markers, none wanted", all[:3], nil, turns},
		{"no channel markers", all[:3], map[string]string{"chat_template.jinja": opensThought},
			"raw, the tokenizer has no <|channel>, <channel|>: the prompt is taken as it is (--raw)"},
		{"task", nil, map[string]string{"prompt.json": `{"form":"task","heading":"sum\n","pattern":"^\\d+$"}`}, "task"},
		{"broken task", all, map[string]string{"prompt.json": `{`}, "chat: prompt.json: byte 1: the JSON ends early"},
		{"broken configuration", all, map[string]string{"tokenizer_config.json": `[`}, "chat: tokenizer_config.json: byte 1: the JSON ends early"},
		{"number for a template", all, map[string]string{"tokenizer_config.json": inConfig("7")},
			"chat: tokenizer_config.json: chat_template is neither a text nor a list of named templates"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := fstest.MapFS{}
			for name, text := range c.files {
				folder[name] = &fstest.MapFile{Data: []byte(text)}
			}
			form, note, err := Choose(testTokenizer(t, "null", c.special...), folder)
			var got string
			switch {
			case err != nil:
				got = err.Error()
			case form == Turns{EmptyThought: true}:
				got = thought
			default:
				got = form.Name()
			}
			if note != "" {
				got += ", " + note
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// refusing is a folder whose files may not be read.
type refusing struct{}

func (refusing) ReadFile(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestChooseReportsUnreadableFiles(t *testing.T) {
	_, _, err := Choose(testTokenizer(t, "null"), refusing{})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "prompt.json") {
		t.Errorf("error %v", err)
	}
}

// FuzzParseTask: bad files give errors, good ones a form that answers any text.
func FuzzParseTask(f *testing.F) {
	f.Add([]byte(`{"form":"task","heading":"h\n","pattern":".","end":"\n","kind":"sudoku"}`), "1")
	f.Add([]byte(`{"form":"task"`), "")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		task, err := ParseTask(data)
		if err != nil {
			return
		}
		if got := task.Prompt(text).String(); got != text && !strings.HasPrefix(got, task.Heading) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
