package fresco

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentedFields compares the fields that the comments of event.go and
// model.go list with those that the types have: the types are defined elsewhere,
// so that the comments are all that a user reads.
func TestDocumentedFields(t *testing.T) {
	documented := map[string][]string{}
	for _, file := range []string{"event.go", "model.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				if len(n.Specs) == 1 && n.Doc != nil {
					collect(t, documented, n.Doc.Text())
				}
			case *ast.TypeSpec:
				collect(t, documented, n.Doc.Text())
			}
			return true
		})
	}
	for _, value := range []any{
		Started{}, Prefilled{}, Draft{}, Committed{}, Finished{}, CanvasReport{}, Usage{}, Timing{}, RequestError{}, LoadProgress{},
	} {
		have := reflect.TypeOf(value)
		name := have.Name()
		if have == reflect.TypeFor[LoadProgress]() {
			name = "LoadProgress"
		}
		var want []string
		for f := range have.Fields() {
			short := strings.NewReplacer("engine.", "", "models.", "").Replace(f.Type.String())
			want = append(want, f.Name+" "+short)
		}
		if diff := cmp.Diff(want, documented[name]); diff != "" {
			t.Errorf("%s: fields (-) and comment (+):\n%s", name, diff)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("the comment of %s lists fields; the test does not compare them", name)
	}
}

// collect reads the struct that the code block of a comment defines.
func collect(t *testing.T, documented map[string][]string, comment string) {
	t.Helper()
	_, code, ok := strings.Cut(comment, "\n\ttype ")
	if !ok {
		return
	}
	var block strings.Builder
	block.WriteString("package p\ntype ")
	for line := range strings.Lines(code) {
		if block.Len() > len("package p\ntype ") && line != "\n" && !strings.HasPrefix(line, "\t") {
			break
		}
		block.WriteString(line)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "", block.String(), 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, block.String())
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			for _, name := range field.Names {
				documented[spec.Name.Name] = append(documented[spec.Name.Name], name.Name+" "+types.ExprString(field.Type))
			}
		}
		return false
	})
}
