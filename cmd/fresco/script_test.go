package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fresco": main})
}

// TestScripts runs the program as a person would. The scripts know three
// commands of their own:
//
//	exits CODE PROGRAM ARGUMENT…   runs a program, which must end with the code
//	conforms SCHEMA                checks the last standard output against docs/SCHEMA
//	field NAME VALUE               compares a field of the object that was printed last
//
// and one condition, [root].
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			// What the person who runs the tests has set must not matter.
			e.Setenv("FRESCO_CPU", "")
			e.Setenv("NO_COLOR", "")
			// $TINY is a checkpoint without a tokenizer.
			e.Setenv("TINY", filepath.Join(fixtures.Root(), "testdata", "fixtures", "text", "ckpt", "tiny"))
			// $EMPTY is a safetensors file without tensors.
			path := filepath.Join(e.WorkDir, "empty.safetensors")
			e.Setenv("EMPTY", path)
			return os.WriteFile(path, []byte("\x08\x00\x00\x00\x00\x00\x00\x00{}      "), 0o644)
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "conforms": conforms, "field": field,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
	if output := ts.ReadFile("stderr"); strings.Contains(output, "goroutine ") {
		ts.Fatalf("a panic got out")
	}
}

func conforms(ts *testscript.TestScript, neg bool, args []string) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(fixtures.Root(), "docs", args[0]))
	ts.Check(err)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile("stdout")))
	ts.Check(err)
	if err := schema.Validate(value); (err != nil) != neg {
		ts.Fatalf("conforms: %v", err)
	}
}

func field(ts *testscript.TestScript, neg bool, args []string) {
	var object map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	value, ok := object[args[0]]
	if !ok {
		ts.Fatalf("no field %s", args[0])
	}
	if (string(value) == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], value)
	}
}

// The schema has teeth: an object with a field too many or too few is refused.
func TestSchemaRefuses(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(fixtures.Root(), "docs", "run.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	good, err := json.Marshal((&outcome{attempts: 1}).report(fresco.Info{Name: "m", Arithmetic: "exact", KernelClass: "generic"}))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"unchanged":    func(map[string]any) {},
		"one too many": func(o map[string]any) { o["surprise"] = 1 },
		"one missing":  func(o map[string]any) { delete(o, "seed") },
		"wrong type":   func(o map[string]any) { o["ids"] = "5" },
	} {
		t.Run(name, func(t *testing.T) {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(good)))
			if err != nil {
				t.Fatal(err)
			}
			object := value.(map[string]any)
			object["finish_reason"], object["mode"] = "stop", "diffusion"
			change(object)
			if err := schema.Validate(object); (err == nil) != (name == "unchanged") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The documentation of the command line names every command and flag.
func TestDocsNameEverything(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(fixtures.Root(), "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	parser, err := newParser(newConsole())
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commandsOf(parser.Model.Node, nil) {
		if command.path != "" && !strings.Contains(string(page), "fresco "+command.path) {
			t.Errorf("docs/cli.md does not name %q", "fresco "+command.path)
		}
		for _, flag := range command.flags {
			if !strings.Contains(string(page), "`--"+flag.long) {
				t.Errorf("docs/cli.md does not name --%s of %q", flag.long, command.path)
			}
		}
	}
}
