package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/embedded"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/google/go-cmp/cmp"
)

// folder writes an embedded model to a folder, changed.
func folder(t *testing.T, change map[string]func([]byte) []byte) string {
	t.Helper()
	m, ok := embedded.Find(Default)
	if !ok {
		t.Skip("this program embeds no model")
	}
	dir := t.TempDir()
	for _, name := range []string{"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "prompt.json"} {
		data, err := fs.ReadFile(m.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		if edit, ok := change[name]; ok {
			if data = edit(data); data == nil {
				continue
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func replace(from, to string) func([]byte) []byte {
	return func(data []byte) []byte { return bytes.Replace(data, []byte(from), []byte(to), 1) }
}

func absent([]byte) []byte { return nil }

// without takes tokens out of a tokenizer.json, those from the given id on.
func without(t *testing.T, from int) func([]byte) []byte {
	return func(data []byte) []byte {
		var file map[string]any
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		vocabulary := file["model"].(map[string]any)["vocab"].(map[string]any)
		for piece, id := range vocabulary {
			if id.(float64) >= float64(from) {
				delete(vocabulary, piece)
			}
		}
		data, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
}

func TestOpenFolder(t *testing.T) {
	m, err := Open(folder(t, nil), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Embedded || m.Tokenizer == nil || m.Form.Name() != "task" || m.Backend.Capabilities().Threads != 1 {
		t.Errorf("got %+v", m)
	}
	if !slices.ContainsFunc(m.Notes, func(note string) bool { return strings.HasPrefix(note, "vision tower: set aside") }) {
		t.Errorf("notes: %q", m.Notes)
	}
}

func TestOpenWithoutTokenizer(t *testing.T) {
	m, err := Open(folder(t, map[string]func([]byte) []byte{"tokenizer.json": absent}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Tokenizer != nil || m.Form != nil {
		t.Error("a tokenizer out of nothing")
	}
	if noise := m.Backend.Config().Noise; noise.Count != 384 {
		t.Errorf("%d ids can be drawn, not the full vocabulary", noise.Count)
	}
}

// Case C16 of the regression list, its loading side: rows of the embedding
// without a token are told, and never drawn; special ids beyond the table are an
// error.
func TestC16VocabularyEdge(t *testing.T) {
	fewer := map[string]func([]byte) []byte{"tokenizer.json": without(t, 376)}
	m, err := Open(folder(t, fewer), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if !slices.Contains(m.Notes, "8 rows without a token") {
		t.Errorf("notes: %q", m.Notes)
	}
	noise := m.Backend.Config().Noise
	if noise.Count != 376 || noise.At(375) != 375 {
		t.Errorf("%d ids can be drawn, the last is %d", noise.Count, noise.At(noise.Count-1))
	}

	for name, test := range map[string]struct {
		change map[string]func([]byte) []byte
		want   string
	}{
		"beyond the embedding": {
			map[string]func([]byte) []byte{"config.json": replace(`"image_token_id": 18`, `"image_token_id": 384`)},
			"config.json: image_token_id is 384, beyond",
		},
		"beyond the tokens": {
			map[string]func([]byte) []byte{
				"config.json":    replace(`"image_token_id": 18`, `"mask_token_id": 380, "image_token_id": 18`),
				"tokenizer.json": without(t, 376),
			},
			"config.json: mask_token_id: id 380 has no token",
		},
		"an end token": {
			map[string]func([]byte) []byte{"generation_config.json": replace("    6\n", "    400\n")},
			"400",
		},
		"beyond the embedding, without tokenizer": {
			map[string]func([]byte) []byte{
				"config.json":    replace(`"boi_token_id": 17`, `"boi_token_id": 999`),
				"tokenizer.json": absent,
			},
			"config.json: boi_token_id is 999, beyond",
		},
		"a key that the architecture does not know": {
			map[string]func([]byte) []byte{"config.json": replace(`"boi_token_id": 17`, `"mask_token_id": 384`)},
			"config.json: mask_token_id",
		},
		"no id": {
			map[string]func([]byte) []byte{"config.json": replace(`"boi_token_id": 17`, `"boi_token_id": "x"`)},
			"boi_token_id",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(folder(t, test.change), Options{})
			var rejected *weights.RejectedError
			if !errors.As(err, &rejected) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRejected(t *testing.T) {
	for name, test := range map[string]struct {
		change map[string]func([]byte) []byte
		want   string
	}{
		"no config":      {map[string]func([]byte) []byte{"config.json": absent}, "config.json"},
		"no weights":     {map[string]func([]byte) []byte{"model.safetensors": absent}, "model.safetensors"},
		"other type":     {map[string]func([]byte) []byte{"config.json": replace(`"model_type": "diffusion_gemma",`, `"model_type": "bert",`)}, `model_type "bert" is not supported`},
		"no type":        {map[string]func([]byte) []byte{"config.json": replace(`"model_type": "diffusion_gemma",`, "")}, "model_type is missing"},
		"bad JSON":       {map[string]func([]byte) []byte{"config.json": replace("{", "")}, "config.json: "},
		"bad tokenizer":  {map[string]func([]byte) []byte{"tokenizer.json": replace("{", "")}, "tokenizer.json"},
		"bad form":       {map[string]func([]byte) []byte{"prompt.json": replace(`"task"`, `"poem"`)}, `form "poem" is not known`},
		"missing scalar": {map[string]func([]byte) []byte{"model.safetensors": replace("layers.1.layer_scalar", "layers.1.layer_scalaR")}, "layer_scalar"},
		"bad generation": {map[string]func([]byte) []byte{"generation_config.json": replace("0.8", "0.3")}, "t_max"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, test.change)
			_, err := Open(dir, Options{})
			var rejected *weights.RejectedError
			if !errors.As(err, &rejected) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("Open: %v", err)
			}
			seen, err := Inspect(dir)
			switch {
			case err == nil && !errors.As(seen.Problem, &rejected):
				t.Errorf("Inspect found nothing wrong")
			case err != nil && !errors.As(err, &rejected):
				t.Errorf("Inspect: %v", err)
			}
		})
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"llama-small", "sudoku"} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name, "config.json"), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if from, err := find("sudoku"); err != nil || !from.embedded {
		t.Errorf("an embedded name: %+v, %v", from, err)
	}
	if from, err := find("./sudoku"); err != nil || from.embedded {
		t.Errorf("a folder of the same name: %+v, %v", from, err)
	}
	if _, err := find("./nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
	for name, near := range map[string][]string{
		"sudouk":      {"sudoku"},
		"SUDOKU":      {"sudoku"},
		"lama-small":  {"llama-small"},
		"entirely so": nil,
	} {
		_, err := find(name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(near, unknown.Near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A whole text in the place of a name does not fill the screen.
func TestLongNamesAreCut(t *testing.T) {
	for _, name := range []string{strings.Repeat("a ", 5000), "./" + strings.Repeat("b", 5000)} {
		if _, err := find(name); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.20s…: %v", name, err)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1},
		{"kitten", "sitting", 3}, {"sudoku", "sudouk", 1}, {"ü", "u", 1}, {"ca", "abc", 3},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, not %d", test.a, test.b, got, test.want)
		}
	}
}

func TestList(t *testing.T) {
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		if entry.About == "" || entry.Bytes == 0 {
			t.Errorf("got %+v", entry)
		}
		seen, err := Inspect(entry.Name)
		if err != nil {
			t.Fatal(err)
		}
		if seen.Problem != nil || !seen.Embedded {
			t.Errorf("%s: %+v", entry.Name, seen)
		}
	}
	if _, ok := embedded.Find(Default); ok && !slices.ContainsFunc(list, func(e Entry) bool { return e.Default }) {
		t.Error("no default")
	}
}
