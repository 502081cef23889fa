package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/sudoku"
)

const (
	grid     = ".57194.8.\n1498.27.5\n..2.67.9.\n3214.....\n5..319.27\n.94.85..1\n4.5.239.8\n.167.8..2\n..39.15.6"
	solution = "657194283\n149832765\n832567194\n321476859\n568319427\n794285631\n475623918\n916758342\n283941576"
)

// asJSON writes a grid as the inside of a JSON string.
func asJSON(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }

func TestParsePuzzles(t *testing.T) {
	entry := func(id, clues, prompt, solution string) string {
		return `{"id":` + id + `,"clues":` + clues + `,"prompt":"` + asJSON(prompt) + `","solution":"` + asJSON(solution) + `"}`
	}
	prompt := "sudoku\n" + grid + "\n"
	good := entry("0", "48", prompt, solution)
	for _, c := range []struct{ name, file, want string }{
		{"good", `{"buckets":{"46-55":[` + good + `]}}`, ""},
		{"no JSON", `[`, "byte 1: the JSON ends early"},
		{"no puzzles", `{"buckets":{"46-55":[]}}`, "no puzzles"},
		{"no heading", `{"buckets":{"46-55":[` + entry("0", "48", grid, solution) + `]}}`, `bucket 46-55: puzzle 0: the prompt does not begin with "sudoku\n"`},
		{"bad grid", `{"buckets":{"46-55":[` + entry("7", "48", "sudoku\n12", solution) + `]}}`, "bucket 46-55: puzzle 7: sudoku: row 1 has 2 cells, not 9"},
		{"wrong count", `{"buckets":{"46-55":[` + entry("0", "47", prompt, solution) + `]}}`, "bucket 46-55: puzzle 0: 48 clues, but the file says 47"},
		{"wrong solution", `{"buckets":{"46-55":[` + entry("0", "48", prompt, solution[:79]) + `]}}`, "bucket 46-55: puzzle 0: the solution is wrong: 8 rows, not 9"},
		{"twice", `{"buckets":{"46-55":[` + good + "," + good + `]}}`, "bucket 46-55: puzzle 0 stands there twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			puzzles, err := parsePuzzles([]byte(c.file))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Fatalf("error %q, want %q", got, c.want)
			}
			want := []Puzzle{{Bucket: "46-55", Clues: 48, Prompt: prompt, Grid: grid, Solution: solution}}
			if diff := cmp.Diff(want, puzzles); err == nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadPuzzlesNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "eval.json")
	if _, err := LoadPuzzles(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("absent: %v", err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPuzzles(path); err == nil || err.Error() != "eval: "+path+": no puzzles" {
		t.Errorf("empty: %v", err)
	}
}

func TestGoldenPuzzleFile(t *testing.T) {
	puzzles, err := LoadPuzzles(filepath.Join(fixtures.Dir(t, "sudoku"), "eval.json"))
	if err != nil {
		t.Fatal(err)
	}
	official := 0
	for i, p := range puzzles {
		if i > 0 && p.Bucket == puzzles[i-1].Bucket && p.ID <= puzzles[i-1].ID {
			t.Errorf("bucket %s: puzzle %d comes after %d", p.Bucket, p.ID, puzzles[i-1].ID)
		}
		if p.Official == nil {
			continue
		}
		official++
		if got := sudoku.Check(p.Grid, p.Official.Text).Solved; got != p.Official.Exact {
			t.Errorf("bucket %s: puzzle %d: the official answer is exact by our check: %v, recorded: %v", p.Bucket, p.ID, got, p.Official.Exact)
		}
		if wrong := sudoku.Cells - sudoku.RightCells(p.Official.Text, p.Solution); wrong != p.Official.DifferingCells {
			t.Errorf("bucket %s: puzzle %d: %d cells differ, recorded: %d", p.Bucket, p.ID, wrong, p.Official.DifferingCells)
		}
	}
	if official == 0 {
		t.Error("no official outputs")
	}
}

func TestBuckets(t *testing.T) {
	b, err := ParseBucket("46-55")
	if err != nil || b != (Bucket{46, 55}) || b.String() != "46-55" {
		t.Errorf("%v, %v", b, err)
	}
	for _, text := range []string{"", "46", "46-", "a-b", "55-46", "16-20", "50-82", "46-55-60", "-1-30"} {
		if b, err := ParseBucket(text); err == nil {
			t.Errorf("%q was read as %v", text, b)
		}
	}
}

func TestGeneratePuzzles(t *testing.T) {
	puzzles, err := GeneratePuzzles(Bucket{40, 45}, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, p := range puzzles {
		seen[p.Grid] = true
		if p.ID != i || p.Bucket != "40-45" || p.Clues < 40 || p.Clues > 45 || p.Prompt != "sudoku\n"+p.Grid+"\n" {
			t.Errorf("puzzle %d is %+v", i, p)
		}
		if v := sudoku.Check(p.Grid, p.Solution); !v.Solved {
			t.Errorf("puzzle %d: %v", i, v)
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d different puzzles of 5", len(seen))
	}
	more, err := GeneratePuzzles(Bucket{40, 45}, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(puzzles, more[:5]); diff != "" {
		t.Errorf("asking for more changed the first: %s", diff)
	}
	if _, err := GeneratePuzzles(Bucket{1, 2}, 1, 1); err == nil {
		t.Error("1 to 2 clues were accepted")
	}
}
