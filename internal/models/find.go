package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/frescolm/fresco/internal/embedded"
	"github.com/frescolm/fresco/internal/weights"
)

// Default is the name of the model that is taken when none is named.
const Default = "sudoku"

// A source is where a model was found.
type source struct {
	name     string
	embedded bool
}

func (s source) open() (*weights.Checkpoint, error) {
	if !s.embedded {
		return weights.Open(s.name)
	}
	m, _ := embedded.Find(s.name) // find has seen it
	return weights.OpenFS(m.FS, s.name)
}

// An UnknownError says that a name is neither that of an embedded model nor of a
// folder or file.
type UnknownError struct {
	Name string
	// Near lists embedded names and folders that the name may be a slip of,
	// Embedded all embedded names.
	Near, Embedded []string
}

func (e *UnknownError) Error() string {
	text := "unknown model " + strconv.Quote(shown(e.Name)) + ": neither an embedded model nor a folder"
	if e.Name == "" {
		text = "no model is named; it is an embedded one or a folder"
	}
	if len(e.Near) > 0 {
		text += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	if len(e.Embedded) == 0 {
		return text + " (this program embeds no model)"
	}
	return text + " (embedded: " + strings.Join(e.Embedded, ", ") + ")"
}

// find decides what a name means. An embedded name wins over a folder of the
// same name in the working directory, which "./name" reaches.
func find(nameOrPath string) (source, error) {
	if _, ok := embedded.Find(nameOrPath); ok {
		return source{nameOrPath, true}, nil
	}
	info, err := os.Stat(nameOrPath)
	switch {
	case err == nil && (info.IsDir() || info.Mode().IsRegular()):
		return source{nameOrPath, false}, nil
	case err == nil:
		return source{}, fmt.Errorf("%s is neither a folder nor a file; a model is a GGUF file, or the folder that holds its config.json", shown(nameOrPath))
	case looksLikePath(nameOrPath) || !errors.Is(err, fs.ErrNotExist):
		return source{}, missing(nameOrPath, err)
	}
	return source{}, &UnknownError{Name: nameOrPath, Near: near(nameOrPath), Embedded: embeddedNames()}
}

func looksLikePath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) ||
		filepath.IsAbs(name) || name == "." || name == ".."
}

// missing explains why a path cannot be opened, in the words of the file system.
func missing(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("model folder %s: %w", shown(path), err)
}

// shown is a name for an error, cut where it is long: it may be a whole text that
// stands in the place of a model.
func shown(name string) string {
	if runes := []rune(name); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return name
}

const maxShown = 200

// near lists the names that differ from name by little: embedded ones, and in the
// working directory folders that hold a config.json and files called *.gguf.
func near(name string) []string {
	candidates := embeddedNames()
	entries, err := os.ReadDir(".")
	if err == nil { // a suggestion is worth no error
		for _, entry := range entries {
			model := entry.IsDir() && isCheckpoint(entry.Name()) || filepath.Ext(entry.Name()) == ".gguf"
			if model && !slices.Contains(candidates, entry.Name()) {
				candidates = append(candidates, entry.Name())
			}
		}
	}
	var list []string
	for _, candidate := range candidates {
		limit := max(1, len([]rune(candidate))/3)
		if distance(strings.ToLower(name), strings.ToLower(candidate)) <= limit {
			list = append(list, candidate)
		}
	}
	return list
}

func embeddedNames() []string {
	var names []string
	for _, m := range embedded.List() {
		names = append(names, m.Name)
	}
	return names
}

func isCheckpoint(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "config.json"))
	return err == nil
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// before, last and row are the rows i-2, i-1 and i of the table.
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
