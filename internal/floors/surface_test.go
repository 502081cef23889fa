package floors

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
)

// public packages are useful alone, so nothing in what they export may come from
// an internal package.
var public = []string{"safetensors", "tokenizer"}

func TestPublicPackagesExportNoInternalTypes(t *testing.T) {
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, name := range public {
		args = append(args, "./"+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = fixtures.Root()
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	files := map[string]string{}
	for row := range strings.Lines(string(out)) {
		importPath, file, _ := strings.Cut(strings.TrimSpace(row), "\t")
		files[importPath] = file
	}
	source := importer.ForCompiler(token.NewFileSet(), "gc", func(importPath string) (io.ReadCloser, error) {
		return os.Open(files[importPath])
	})
	for _, name := range public {
		p, err := source.Import(module + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s := surface{own: p, seen: map[types.Type]bool{}}
		exported := 0
		for _, id := range p.Scope().Names() {
			if object := p.Scope().Lookup(id); object.Exported() {
				exported++
				s.visit(object.Type(), id)
			}
		}
		if exported == 0 {
			t.Errorf("%s exports nothing", name)
		}
		for _, leak := range s.leaks {
			t.Errorf("%s: %s", name, leak)
		}
	}
}

// A surface walks over all types that a user of a package can reach.
type surface struct {
	own   *types.Package
	seen  map[types.Type]bool
	leaks []string
}

func (s *surface) visit(t types.Type, where string) {
	if s.seen[t] {
		return
	}
	s.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		s.named(t.Obj(), where)
		s.visit(t.Rhs(), where)
	case *types.Named:
		s.named(t.Obj(), where)
		for arg := range t.TypeArgs().Types() {
			s.visit(arg, where)
		}
		if t.Obj().Pkg() != s.own {
			return
		}
		for m := range t.Methods() {
			if m.Exported() {
				s.visit(m.Type(), t.Obj().Name()+"."+m.Name())
			}
		}
		s.visit(t.Underlying(), t.Obj().Name())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				s.visit(f.Type(), where+"."+f.Name())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			s.visit(m.Type(), where+"."+m.Name())
		}
	case *types.Signature:
		s.tuple(t.Params(), where)
		s.tuple(t.Results(), where)
	case *types.Map:
		s.visit(t.Key(), where)
		s.visit(t.Elem(), where)
	case interface{ Elem() types.Type }:
		s.visit(t.Elem(), where)
	}
}

func (s *surface) tuple(t *types.Tuple, where string) {
	for v := range t.Variables() {
		s.visit(v.Type(), where)
	}
}

func (s *surface) named(object *types.TypeName, where string) {
	if p := object.Pkg(); p != nil && strings.Contains(p.Path()+"/", "/internal/") {
		s.leaks = append(s.leaks, fmt.Sprintf("%s shows %s.%s", where, p.Path(), object.Name()))
	}
}
