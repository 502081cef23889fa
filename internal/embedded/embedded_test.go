package embedded

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/sudoku"
	"github.com/frescolm/fresco/tokenizer"
)

func TestModelsAreWhole(t *testing.T) {
	if len(List()) == 0 {
		t.Skip("built without models (tag noembed)")
	}
	for _, m := range List() {
		t.Run(m.Name, func(t *testing.T) {
			for _, name := range []string{"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"} {
				if data, err := fs.ReadFile(m.FS, name); err != nil || len(data) == 0 {
					t.Errorf("%s: %d bytes, %v", name, len(data), err)
				}
			}
			if strings.TrimSpace(m.Example) == "" {
				t.Error("no example")
			}
			if !strings.HasPrefix(m.Card, "# "+m.Name) {
				t.Errorf("the card begins with %.40q", m.Card)
			}
			found, ok := Find(m.Name)
			if !ok || found.Name != m.Name {
				t.Errorf("found %q, %v", found.Name, ok)
			}
		})
	}
}

func TestFindUnknown(t *testing.T) {
	if m, ok := Find("chess"); ok {
		t.Errorf("found %q", m.Name)
	}
}

// TestSudokuExample: the example is a puzzle of the 40 to 45 clues that the model is still good at, with one
// solution, in the notation that goes behind the heading.
func TestSudokuExample(t *testing.T) {
	m, ok := Find("sudoku")
	if !ok {
		t.Skip("built without models (tag noembed)")
	}
	puzzle, err := sudoku.Parse(m.Example)
	if err != nil {
		t.Fatal(err)
	}
	if n := puzzle.Clues(); n < 40 || n > 45 {
		t.Errorf("%d clues", n)
	}
	if !sudoku.Unique(puzzle) {
		t.Error("not exactly one solution")
	}
	data, err := fs.ReadFile(m.FS, "tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	form, note, err := chat.Choose(tok, m.FS.(fs.ReadFileFS))
	if err != nil || note != "" {
		t.Fatalf("note %q, error %v", note, err)
	}
	if got, want := form.Prompt(m.Example).String(), "sudoku\n"+puzzle.String()+"\n"; got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
}
