package sudoku

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	knownPuzzle  = "......21..531829........8.5.35...42.429.67.81.8.25..3931..2.7.6.7264135.5..73.19."
	somePuzzle   = ".57194.8.\n1498.27.5\n..2.67.9.\n3214.....\n5..319.27\n.94.85..1\n4.5.239.8\n.167.8..2\n..39.15.6"
	someSolution = "657194283\n149832765\n832567194\n321476859\n568319427\n794285631\n475623918\n916758342\n283941576"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"canonical", somePuzzle, ""},
		{"newline at the end", somePuzzle + "\n", ""},
		{"two newlines at the end", somePuzzle + "\n\n", "sudoku: 10 rows, not 9"},
		{"empty", "", "sudoku: row 1 has 0 cells, not 9"},
		{"short row", strings.Replace(somePuzzle, "1498", "149", 1), "sudoku: row 2 has 8 cells, not 9"},
		{"long row", strings.Replace(somePuzzle, "1498", "14988", 1), "sudoku: row 2 has 10 cells, not 9"},
		{"zero for empty", strings.ReplaceAll(somePuzzle, ".", "0"), `sudoku: row 1 column 1: '0' is not a cell`},
		{"carriage return", strings.ReplaceAll(somePuzzle, "\n", "\r\n"), `sudoku: row 1 column 10: '\r' is not a cell`},
		{"eight rows", somePuzzle[:79], "sudoku: 8 rows, not 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := Parse(c.text)
			if got := errorText(err); got != c.want {
				t.Fatalf("error %q, want %q", got, c.want)
			}
			if err == nil && g.String() != somePuzzle {
				t.Errorf("read as\n%s", g)
			}
		})
	}
}

func TestRead(t *testing.T) {
	boxed := " . 5 7 | 1 9 4 | . 8 .\n 1 4 9 | 8 . 2 | 7 . 5\n . . 2 | . 6 7 | . 9 .\n-------+-------+-------\n" +
		" 3 2 1 | 4 . . | . . .\n 5 . . | 3 1 9 | . 2 7\n . 9 4 | . 8 5 | . . 1\n-------+-------+-------\n" +
		" 4 . 5 | . 2 3 | 9 . 8\n . 1 6 | 7 . 8 | . . 2\n . . 3 | 9 . 1 | 5 . 6\n"
	line := strings.ReplaceAll(somePuzzle, "\n", "")
	for _, c := range []struct{ name, text, want string }{
		{"canonical", somePuzzle, ""},
		{"zeros", strings.ReplaceAll(somePuzzle, ".", "0"), ""},
		{"underscores", strings.ReplaceAll(somePuzzle, ".", "_"), ""},
		{"stars", strings.ReplaceAll(somePuzzle, ".", "*"), ""},
		{"one line", line, ""},
		{"one line, zeros, newline", strings.ReplaceAll(line, ".", "0") + "\n", ""},
		{"windows", strings.ReplaceAll(somePuzzle, "\n", "\r\n") + "\r\n", ""},
		{"boxed", boxed, ""},
		{"drawn", strings.NewReplacer("|", "│", "-", "─", "+", "┼").Replace(boxed), ""},
		{"letters x", strings.ReplaceAll(somePuzzle, ".", "x"), ""},
		{"capital letters X", strings.ReplaceAll(somePuzzle, ".", "X"), ""},
		{"commas around zeros", spaced(strings.ReplaceAll(somePuzzle, ".", "0"), ","), ""},
		{"nothing between commas", strings.ReplaceAll(spaced(somePuzzle, ","), ".", ""), ""},
		{"commas at the ends of lines", strings.ReplaceAll(strings.ReplaceAll(spaced(somePuzzle, ", "), ".", "")+"\n", "\n", ",\n"), ""},
		{"81 fields", strings.ReplaceAll(strings.ReplaceAll(spaced(line, ","), ".", ""), "\n", ","), ""},
		{"blanks", strings.ReplaceAll(somePuzzle, ".", " "), ""},
		{"blanks, cut at the ends", trimmedRight(strings.ReplaceAll(somePuzzle, ".", " ")) + "\n", ""},
		{"blanks in every second column", strings.ReplaceAll(spaced(somePuzzle, " "), ".", " "), ""},
		{"blanks out of line", strings.Replace(strings.ReplaceAll(somePuzzle, ".", " "), "  39", "   39", 1), "sudoku: row 1 has 6 cells, not 9"},
		{"blank lines around", "\n\n" + somePuzzle + "\n \n", ""},
		{"80 cells", line[:80], "sudoku: 80 cells, not 81"},
		{"three lines of 27", line[:27] + "\n" + line[27:54] + "\n" + line[54:], "sudoku: row 1 has 27 cells, not 9"},
		{"ten rows", somePuzzle + "\n.........", "sudoku: 10 rows, not 9"},
		{"words", "please solve\n" + somePuzzle, "sudoku: line 1: 'p' is neither a cell nor decoration"},
		{"nothing", " \n", "sudoku: 0 rows, not 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := Read(c.text)
			if got := errorText(err); got != c.want {
				t.Fatalf("error %q, want %q", got, c.want)
			}
			if err == nil && g.String() != somePuzzle {
				t.Errorf("read as\n%s", g)
			}
		})
	}
}

// spaced puts a separator between the cells of every line.
func spaced(grid, separator string) string {
	lines := strings.Split(grid, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Split(line, ""), separator)
	}
	return strings.Join(lines, "\n")
}

func trimmedRight(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func TestAssess(t *testing.T) {
	for _, c := range []struct {
		name, puzzle, impossible string
		ambiguous                bool
	}{
		{"one solution", somePuzzle, "", false},
		{"solved", someSolution, "", false},
		{"empty", Grid{}.String(), "", true},
		{"two in a row", "55" + strings.Repeat(".", 79), "the puzzle has two 5s in row 1", false},
		{"a cell without candidates", "12345678." + "........9" + strings.Repeat(".", 63), "the puzzle has no solution", false},
		// Row 1 wants 1, 2 and 9 in box 1, which has two of them in row 2.
		{"no solution, and no cell says so at once", "...345678" + "12......." + strings.Repeat(".", 63), "the puzzle has no solution", false},
		{"two solutions", strings.NewReplacer("1", ".", "2", ".").Replace(someSolution), "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := Read(c.puzzle)
			if err != nil {
				t.Fatal(err)
			}
			impossible, ambiguous := Assess(g)
			if impossible != c.impossible || ambiguous != c.ambiguous {
				t.Errorf("%q, %v; want %q, %v", impossible, ambiguous, c.impossible, c.ambiguous)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	line := strings.ReplaceAll(somePuzzle, "\n", "")
	for _, c := range []struct {
		name, text, reason string
		near               bool
	}{
		{"a grid", somePuzzle, "", false},
		{"80 cells in a line", line[:80], "80 cells, want 81", true},
		{"80 cells in rows", somePuzzle[1:], "80 cells, want 81: row 1 has 8 cells, not 9", true},
		{"eight rows", somePuzzle[:79], "72 cells, want 81: 8 rows, not 9", true},
		{"a letter for a cell", "o" + somePuzzle[1:], `80 cells, want 81: line 1: 'o' is neither a cell nor decoration`, true},
		{"a word before it", "solve " + somePuzzle, `line 1: 's' is neither a cell nor decoration`, true},
		{"half a grid", line[:40], "", false},
		{"a question", "How do you do?", "", false},
		{"a text around a grid", strings.Repeat("please ", 9) + somePuzzle, "", false},
	} {
		if reason, near := Explain(c.text); reason != c.reason || near != c.near {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, reason, near, c.reason, c.near)
		}
	}
}

func TestCheck(t *testing.T) {
	change := func(text string, at int, mark string) string { return text[:at] + mark + text[at+1:] }
	swapped := strings.NewReplacer("1", "2", "2", "1").Replace(someSolution)
	empty := Grid{}.String()
	for _, c := range []struct{ name, puzzle, answer, want string }{
		{"solved", somePuzzle, someSolution, ""},
		{"solved, puzzle on one line", strings.ReplaceAll(somePuzzle, "\n", ""), someSolution, ""},
		{"any solution of an open puzzle", empty, swapped, ""},
		{"clue", somePuzzle, change(someSolution, 16, "9"), "clue at row 2 column 7 changed from 7 to 9"},
		{"all clues", somePuzzle, swapped, "clue at row 1 column 4 changed from 1 to 2"},
		{"row", empty, change(someSolution, 0, "5"), "two 5s in row 1"},
		{"column", empty, "123456789\n123456789\n231564897\n312645978\n456789123\n564897231\n645978312\n789123456\n897231564", "two 1s in column 1"},
		{"box", empty, "123456789\n234567891\n345678912\n456789123\n567891234\n678912345\n789123456\n891234567\n912345678", "two 2s in box 1"},
		{"nine of a kind", empty, strings.Repeat("111111111\n", 8) + "111111111", "nine 1s in row 1"},
		{"empty answer", somePuzzle, "", "the answer is empty"},
		{"newline at the end", somePuzzle, someSolution + "\n", "a newline after the last row"},
		{"text behind", somePuzzle, someSolution + " done", `row 9 column 10: ' ' is not a cell`},
		{"hole", somePuzzle, change(someSolution, 4, "."), "row 1 column 5 is empty"},
		{"letter", somePuzzle, change(someSolution, 4, "x"), `row 1 column 5: 'x' is not a cell`},
		{"too short", somePuzzle, someSolution[:79], "8 rows, not 9"},
		{"no puzzle", "hello", someSolution, "the puzzle is no grid: line 1: 'h' is neither a cell nor decoration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := Verdict{Solved: c.want == "", Problem: c.want}
			if diff := cmp.Diff(want, Check(c.puzzle, c.answer)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVerdictString(t *testing.T) {
	if got := Check(somePuzzle, someSolution).String(); got != "solved" {
		t.Error(got)
	}
	if got, want := Check(somePuzzle, "").String(), "not solved: the answer is empty"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRightCells(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         int
	}{
		{"all", someSolution, 81},
		{"none", "", 0},
		{"puzzle", somePuzzle, 48},
		{"first row", someSolution[:9], 9},
		{"a wide character takes one place", "é" + someSolution[1:], 80},
		{"shifted", "x" + someSolution, 0},
	} {
		if got := RightCells(c.answer, someSolution); got != c.want {
			t.Errorf("%s: %d cells, want %d", c.name, got, c.want)
		}
	}
}

func TestSolutions(t *testing.T) {
	puzzle, err := Parse(somePuzzle)
	if err != nil {
		t.Fatal(err)
	}
	found := Solutions(puzzle, 2)
	if len(found) != 1 || found[0].String() != someSolution {
		t.Errorf("%d solutions: %v", len(found), found)
	}
	if !Unique(puzzle) {
		t.Error("not unique")
	}
	if found := Solutions(Grid{}, 2); len(found) != 2 || brokenRule(found[0])+brokenRule(found[1]) != "" || found[0] == found[1] {
		t.Errorf("the empty grid has the solutions %v", found)
	}
	if found := Solutions(Grid{0: 5, 8: 5}, 2); len(found) != 0 {
		t.Errorf("two 5s in a row have %d solutions", len(found))
	}
	if found := Solutions(puzzle, 0); len(found) != 0 {
		t.Errorf("%d solutions for a limit of 0", len(found))
	}
}

func TestGenerate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(26, Cells).Draw(t, "lo")
		hi := rapid.IntRange(lo, Cells).Draw(t, "hi")
		seed, index := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "index")
		puzzle, solution, err := Generate(seed, index, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		if n := puzzle.Clues(); n < lo || n > hi {
			t.Errorf("%d clues, want %d to %d", n, lo, hi)
		}
		if v := Check(puzzle.String(), solution.String()); !v.Solved {
			t.Error(v)
		}
		if !Unique(puzzle) {
			t.Error("more than one solution")
		}
		again, _, err := Generate(seed, index, lo, hi)
		if err != nil || again != puzzle {
			t.Errorf("the same arguments gave another puzzle (%v)", err)
		}
	})
}

// TestGenerateKnown holds the series still: published results name puzzles by
// seed and index.
func TestGenerateKnown(t *testing.T) {
	puzzle, _, err := Generate(1, 0, 40, 45)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(puzzle.String(), "\n", ""); got != knownPuzzle {
		t.Errorf("got %s, want %s", got, knownPuzzle)
	}
	other, _, err := Generate(1, 1, 40, 45)
	if err != nil || other == puzzle {
		t.Errorf("index 1 repeats index 0 (%v)", err)
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, c := range [][2]int{{16, 20}, {50, 49}, {50, 82}} {
		if _, _, err := Generate(1, 0, c[0], c[1]); err == nil {
			t.Errorf("%v was accepted", c)
		}
	}
	if _, _, err := Generate(1, 0, 17, 17); err == nil || !strings.Contains(err.Error(), "at most 17 clues") {
		t.Errorf("17 clues: %v", err)
	}
}

// FuzzRead: whatever is read is a grid whose canonical text reads back as
// itself, in both readers.
func FuzzRead(f *testing.F) {
	f.Add(somePuzzle)
	f.Add(strings.ReplaceAll(somePuzzle, "\n", ""))
	f.Add("1 2 3|")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := Read(text)
		if err != nil {
			return
		}
		for name, read := range map[string]func(string) (Grid, error){"Parse": Parse, "Read": Read} {
			if again, err := read(g.String()); err != nil || again != g {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func BenchmarkGenerate(b *testing.B) {
	for i := range b.N {
		if _, _, err := Generate(1, uint64(i), 40, 45); err != nil {
			b.Fatal(err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
