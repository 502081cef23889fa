package chat

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/tokenizer"
)

// readJSON decodes a fixture file.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// TestGoldenTurns: a single user message gives the text that the official
// templates give, the current one without and the original one with the empty
// thought.
func TestGoldenTurns(t *testing.T) {
	type rendered struct{ Prompt, Error string }
	type message struct {
		Role    string
		Content json.RawMessage
	}
	var file struct {
		Cases []struct {
			Name                 string
			Messages             []message
			Tools                []json.RawMessage
			EnableThinking       bool `json:"enable_thinking"`
			AddGenerationPrompt  bool `json:"add_generation_prompt"`
			ContinueFinalMessage bool `json:"continue_final_message"`
			Current, Original    rendered
		}
	}
	readJSON(t, filepath.Join(fixtures.Dir(t, "chat"), "prompts.json"), &file)
	cases := 0
	for i, c := range file.Cases {
		var text string
		if len(c.Messages) != 1 || c.Messages[0].Role != "user" || json.Unmarshal(c.Messages[0].Content, &text) != nil ||
			len(c.Tools) > 0 || c.EnableThinking || !c.AddGenerationPrompt || c.ContinueFinalMessage {
			continue
		}
		cases++
		t.Run(fmt.Sprintf("%d-%s", i, c.Name), func(t *testing.T) {
			if diff := cmp.Diff(c.Current.Prompt, Turns{}.Prompt(text).String()); diff != "" {
				t.Errorf("current: %s", diff)
			}
			if diff := cmp.Diff(c.Original.Prompt, Turns{EmptyThought: true}.Prompt(text).String()); diff != "" {
				t.Errorf("original: %s", diff)
			}
		})
	}
	if cases == 0 {
		t.Fatal("no cases")
	}
}

// TestGoldenSudokuPrompt: a bare grid and the recorded prompt give the recorded
// ids.
func TestGoldenSudokuPrompt(t *testing.T) {
	dir := fixtures.Dir(t, "sudoku")
	tok, err := tokenizer.Open(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Buckets map[string][]struct {
			ID     int
			Prompt string
			IDs    []int32 `json:"prompt_ids"`
		}
	}
	readJSON(t, filepath.Join(dir, "eval.json"), &file)
	task := sudokuTask(t)
	cases := 0
	for bucket, puzzles := range file.Buckets {
		for _, p := range puzzles {
			if p.IDs == nil {
				continue
			}
			cases++
			t.Run(fmt.Sprintf("%s/%d", bucket, p.ID), func(t *testing.T) {
				for _, text := range []string{p.Prompt, strings.TrimPrefix(p.Prompt, task.Heading)} {
					if diff := cmp.Diff(p.IDs, Encode(tok, task.Prompt(text))); diff != "" {
						t.Error(diff)
					}
				}
				if diff := cmp.Diff(p.IDs, Encode(tok, Raw{}.Prompt(p.Prompt))); diff != "" {
					t.Errorf("raw: %s", diff)
				}
			})
		}
	}
	if cases == 0 {
		t.Fatal("no cases")
	}
}
