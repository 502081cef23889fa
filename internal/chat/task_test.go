package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/fixtures"
)

func itoa(n int) string { return strconv.Itoa(n) }

// quote writes s as a JSON string.
func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// sudokuTask is the form of the embedded model.
func sudokuTask(t *testing.T) Task {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures.Root(), "internal", "embedded", "sudoku", "prompt.json"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := ParseTask(data)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

const (
	grid     = ".57194.8.\n1498.27.5\n..2.67.9.\n3214.....\n5..319.27\n.94.85..1\n4.5.239.8\n.167.8..2\n..39.15.6"
	solution = "657194283\n149832765\n832567194\n321476859\n568319427\n794285631\n475623918\n916758342\n283941576"
)

func TestSudokuPrompt(t *testing.T) {
	line := strings.ReplaceAll(grid, "\n", "")
	framed := strings.ReplaceAll(grid, "\n", " |\n+---+\n| ")
	want := "sudoku\n" + grid + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"bare grid", grid, want},
		{"with a newline", grid + "\n", want},
		{"one line of zeros", strings.ReplaceAll(line, ".", "0"), want},
		{"framed", framed, want},
		{"windows", strings.ReplaceAll(grid, "\n", "\r\n"), want},
		{"with the heading", want, want},
		{"with the heading, no newline at the end", "sudoku\n" + grid, want},
		{"with the heading, other notation", "sudoku\r\n" + line + "\r\n", want},
		{"heading without a grid", "sudoku\nhello", "sudoku\nhello"},
		{"heading twice", "sudoku\n" + want, "sudoku\n" + want},
		{"heading alone", "sudoku\n", "sudoku\n"},
		{"80 cells", line[:80], line[:80]},
		{"a number", "42", "42"},
		{"other text", "What is a canvas?\r\n", "What is a canvas?\r\n"},
		{"nothing", "", ""},
		{"white space", " \n", " \n"},
		{"not UTF-8", "\xff" + grid, "\xff" + grid},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := sudokuTask(t).Prompt(c.text)
			if diff := cmp.Diff(Prompt{BOS: true, Segments: []Segment{{Text: c.want}}}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSudokuCheck(t *testing.T) {
	task := sudokuTask(t)
	for _, c := range []struct {
		name, text, answer, problem string
		ok                          bool
	}{
		{"solved", grid, solution, "", true},
		{"solved, with heading", "sudoku\n" + grid + "\n", solution, "", true},
		{"wrong", grid, solution[1:], "row 1 has 8 cells, not 9", true},
		{"solved, with a line end", grid, solution + "\n", "", true},
		{"no grid", "hello", solution, "", false},
	} {
		if problem, ok := task.Check(c.text, c.answer); problem != c.problem || ok != c.ok {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, problem, ok, c.problem, c.ok)
		}
	}
}

func TestSudokuAssess(t *testing.T) {
	task := sudokuTask(t)
	for _, c := range []struct{ name, text, impossible, note string }{
		{"a puzzle", grid, "", ""},
		{"with heading", "sudoku\n" + grid + "\n", "", ""},
		{"contradiction", strings.Replace(grid, ".57", "557", 1), "the puzzle has two 5s in row 1", ""},
		{"several solutions", strings.Repeat(".", 81), "", "the puzzle has several solutions; any of them counts as solved"},
		{"80 cells", strings.ReplaceAll(grid, "\n", "")[1:], "", "this is no Sudoku grid (80 cells, want 81); the answer is not checked"},
		{"80 cells with heading", "sudoku\n" + strings.ReplaceAll(grid, "\n", "")[1:], "", "this is no Sudoku grid (80 cells, want 81); the answer is not checked"},
		{"any text", "How do you do?", "", "this is no Sudoku grid; the answer is not checked"},
	} {
		impossible, note := task.Assess(c.text)
		if impossible != c.impossible || note != c.note {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, impossible, note, c.impossible, c.note)
		}
	}
}

func TestTaskWithoutKind(t *testing.T) {
	task, err := ParseTask([]byte(`{"form":"task","heading":"sum ","pattern":"^\\d+$","end":"="}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"12": "sum 12=", "sum 12": "sum 12=", "12=": "12=", "x": "x"} {
		if got := task.Prompt(text).String(); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if problem, ok := task.Check("12", "3"); ok {
		t.Errorf("checked without a kind: %q", problem)
	}
}

func TestParseTaskErrors(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"empty", ``, "the file is empty"},
		{"no form", `{"heading":"h","pattern":"x"}`, `form "" is not known (known: task)`},
		{"other form", `{"form":"poem","heading":"h","pattern":"x"}`, `form "poem" is not known (known: task)`},
		{"no heading", `{"form":"task","pattern":"x"}`, "heading is missing"},
		{"no pattern", `{"form":"task","heading":"h"}`, "pattern is missing"},
		{"bad pattern", `{"form":"task","heading":"h","pattern":"("}`, "pattern: error parsing regexp: missing closing ): `(`"},
		{"unknown kind", `{"form":"task","heading":"h","pattern":"x","kind":"chess"}`, `kind "chess" is not known (known: sudoku)`},
		{"unknown field", `{"form":"task","heading":"h","pattern":"x","tail":"t"}`, `key "tail" is not known`},
		{"more behind", `{"form":"task","heading":"h","pattern":"x"} {}`, "byte 43: more after the value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseTask([]byte(c.data))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
