package floors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
)

const module = "github.com/frescolm/fresco"

// A listed package is what go list says of it.
type listed struct {
	ImportPath, Name, Doc      string
	Standard                   bool
	Imports, GoFiles, CgoFiles []string
	Module                     *struct{ Path string }
}

// targets are those that .ci/run builds; a file for another system has imports
// as well.
var targets = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// list returns the packages of this module for one target, and the modules that
// all packages, the standard library aside, come from.
func list(t *testing.T, goos, goarch string) (own []listed, moduleOf map[string]string) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Doc,Standard,Imports,GoFiles,CgoFiles,Module", "./...")
	cmd.Dir = fixtures.Root()
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=1")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	moduleOf = map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return own, moduleOf
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Standard || p.Module == nil:
		case p.Module.Path == module:
			own = append(own, p)
		default:
			moduleOf[p.ImportPath] = p.Module.Path
		}
	}
}

// below returns the path of a package below the module's, false when it is of
// another module.
func below(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// lines returns the plan by package, with the number of its floor, counted down
// from 0.
func lines(t *testing.T) (line map[string]house, level map[string]int) {
	t.Helper()
	line, level = map[string]house{}, map[string]int{}
	for i, f := range plan {
		for _, h := range f.packages {
			if _, twice := line[h.path]; twice {
				t.Errorf("%s has two lines in the plan", h.path)
			}
			line[h.path], level[h.path] = h, i
		}
	}
	return line, level
}

// TestPlan holds the plan itself: imports point down, or to a neighbour that is
// named as one.
func TestPlan(t *testing.T) {
	line, level := lines(t)
	for _, h := range line {
		for _, to := range h.may {
			if _, ok := line[to]; !ok {
				t.Errorf("%s may import %s, which has no line", h.path, to)
			} else if level[to] <= level[h.path] {
				t.Errorf("%s (%s) may import %s (%s): that does not point down", h.path, plan[level[h.path]].name, to, plan[level[to]].name)
			}
		}
		for _, to := range h.beside {
			if _, ok := line[to]; !ok || level[to] != level[h.path] || to == h.path {
				t.Errorf("%s names %s as standing beside it, which it does not", h.path, to)
			}
		}
	}
}

// TestImports compares the plan with the imports of every package, on every
// target.
func TestImports(t *testing.T) {
	line, _ := lines(t)
	seen, told := map[string]bool{}, map[string]bool{}
	tell := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !told[text] {
			told[text] = true
			t.Error(text)
		}
	}
	for _, target := range targets {
		own, moduleOf := list(t, target[0], target[1])
		for _, p := range own {
			name, _ := below(p.ImportPath)
			seen[name] = true
			h, ok := line[name]
			if !ok {
				tell("package %s is not in the plan: give it a line on its floor in internal/floors/table_test.go, and a place in docs/architecture.md", name)
				continue
			}
			for _, imported := range p.Imports {
				if to, ok := below(imported); ok {
					if !slices.Contains(h.may, to) && !slices.Contains(h.beside, to) {
						tell("%s imports %s, which its line in internal/floors/table_test.go does not allow: see there what to do", name, to)
					}
				} else if m := moduleOf[imported]; m != "" && !slices.Contains(h.modules, m) {
					tell("%s imports %s, of the module %s, which its line in internal/floors/table_test.go does not allow: see there what to do", name, imported, m)
				}
			}
			if len(p.CgoFiles) > 0 {
				tell("%s uses cgo: %v", name, p.CgoFiles)
			}
		}
	}
	for name := range line {
		if !seen[name] {
			tell("the plan has a line for %s, which does not exist", name)
		}
	}
	for _, dir := range goFolders(t) {
		if !seen[dir] {
			tell("the Go files in %s are part of no target's build", dir)
		}
	}
}

// goFolders returns the folders that hold Go files which are not tests. (It also
// makes the result of this package depend on the whole tree, so that go test
// does not repeat an old one.)
func goFolders(t *testing.T) []string {
	t.Helper()
	root := fixtures.Root()
	var dirs []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			_, inner := os.Stat(filepath.Join(name, "go.mod"))
			if name != root && (inner == nil || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") {
			dir, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			if dir = filepath.ToSlash(dir); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// TestPackages: a package has a name that says what it holds, and a doc.go.
func TestPackages(t *testing.T) {
	own, _ := list(t, "linux", "amd64")
	if len(own) == 0 {
		t.Fatal("no packages")
	}
	empty := []string{"common", "helper", "helpers", "misc", "shared", "type", "types", "util", "utils"}
	for _, p := range own {
		name, _ := below(p.ImportPath)
		if slices.Contains(empty, p.Name) || slices.Contains(empty, path.Base(name)) {
			t.Errorf("%s: the name does not say what the package holds", name)
		}
		if p.Doc == "" || !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s: a package has its comment in doc.go", name)
		}
	}
}

// TestArchitecturePage: docs/architecture.md says what every package is.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(fixtures.Root(), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range plan {
		for _, h := range f.packages {
			if h.path != "." && !strings.Contains(string(page), "`"+h.path+"`") {
				t.Errorf("docs/architecture.md does not mention %s", h.path)
			}
		}
	}
}
