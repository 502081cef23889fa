package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/fixtures"
)

// goldenCases is the form of cases.json.
type goldenCases struct {
	Versions   json.RawMessage `json:"versions"`
	BOS        int32           `json:"bos"`
	OffsetUnit string          `json:"offset_unit"`
	Cases      []struct {
		Text        string   `json:"text"`
		IDs         []int32  `json:"ids"`
		Offsets     [][2]int `json:"offsets"`
		Decoded     string   `json:"decoded"`
		DecodedSkip string   `json:"decoded_skip"`
	} `json:"cases"`
	Decode []struct {
		IDs         []int32 `json:"ids"`
		Decoded     string  `json:"decoded"`
		DecodedSkip string  `json:"decoded_skip"`
	} `json:"decode"`
	Stream []struct {
		IDs         []int32   `json:"ids"`
		SkipSpecial bool      `json:"skip_special"`
		Pieces      []*string `json:"pieces"`
		Full        string    `json:"full"`
		Tail        *string   `json:"tail"`
	} `json:"stream"`
}

func readGolden(t *testing.T) (*Tokenizer, goldenCases) {
	t.Helper()
	dir := fixtures.Dir(t, "tokenizer")
	tok, err := Open(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var g goldenCases
	if err := d.Decode(&g); err != nil {
		t.Fatal(err)
	}
	if g.OffsetUnit != "utf-8 bytes" {
		t.Fatalf("offset unit %q is not known", g.OffsetUnit)
	}
	if len(g.Cases) == 0 || len(g.Decode) == 0 || len(g.Stream) == 0 {
		t.Fatalf("%d cases, %d decode, %d stream: want some of each", len(g.Cases), len(g.Decode), len(g.Stream))
	}
	return tok, g
}

func TestGoldenEncode(t *testing.T) {
	tok, g := readGolden(t)
	checkEncode(t, tok, g)
}

func checkEncode(t *testing.T, tok *Tokenizer, g goldenCases) {
	for i, c := range g.Cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			ids, spans := tok.EncodeOffsets(c.Text, EncodeOptions{})
			if diff := cmp.Diff(c.IDs, ids); diff != "" {
				t.Errorf("ids of %q (-want +got):\n%s", c.Text, diff)
			}
			offsets := make([][2]int, len(spans))
			for k, s := range spans {
				offsets[k] = [2]int{s.Start, s.End}
			}
			if diff := cmp.Diff(c.Offsets, offsets); diff != "" {
				t.Errorf("offsets of %q (-want +got):\n%s", c.Text, diff)
			}
			withBOS := tok.Encode(c.Text, EncodeOptions{AddSpecial: true})
			if diff := cmp.Diff(append([]int32{g.BOS}, c.IDs...), withBOS); diff != "" {
				t.Errorf("ids of %q with special tokens (-want +got):\n%s", c.Text, diff)
			}
		})
	}
}

func TestGoldenDecode(t *testing.T) {
	tok, g := readGolden(t)
	checkDecode(t, tok, g)
}

func checkDecode(t *testing.T, tok *Tokenizer, g goldenCases) {
	check := func(t *testing.T, ids []int32, plain, skipped string) {
		t.Helper()
		if got := tok.Decode(ids, false); got != plain {
			t.Errorf("Decode(%v, false) = %q, want %q", ids, got, plain)
		}
		if got := tok.Decode(ids, true); got != skipped {
			t.Errorf("Decode(%v, true) = %q, want %q", ids, got, skipped)
		}
		if err := tok.Check(ids); err != nil {
			t.Error(err)
		}
	}
	for i, c := range g.Cases {
		t.Run(fmt.Sprintf("cases/%d", i), func(t *testing.T) { check(t, c.IDs, c.Decoded, c.DecodedSkip) })
	}
	for i, c := range g.Decode {
		t.Run(fmt.Sprintf("decode/%d", i), func(t *testing.T) { check(t, c.IDs, c.Decoded, c.DecodedSkip) })
	}
}

func TestGoldenStream(t *testing.T) {
	tok, g := readGolden(t)
	checkStream(t, tok, g)
}

func checkStream(t *testing.T, tok *Tokenizer, g goldenCases) {
	for i, c := range g.Stream {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := tok.NewStream(c.SkipSpecial)
			pieces := make([]*string, len(c.IDs))
			for k, id := range c.IDs {
				if text, ok := s.Push(id); ok {
					pieces[k] = &text
				}
			}
			if diff := cmp.Diff(c.Pieces, pieces); diff != "" {
				t.Errorf("pieces of %v (-want +got):\n%s", c.IDs, diff)
			}
			if tail := s.Flush(); c.Tail != nil && tail != *c.Tail {
				t.Errorf("Flush after %v = %q, want %q", c.IDs, tail, *c.Tail)
			}
			if full := tok.Decode(c.IDs, c.SkipSpecial); full != c.Full {
				t.Errorf("Decode(%v, %t) = %q, want %q", c.IDs, c.SkipSpecial, full, c.Full)
			}
		})
	}
}

// TestGoldenPrompts checks the ids of the trained puzzle model's prompts, to
// which its tokenizer adds BOS.
func TestGoldenPrompts(t *testing.T) {
	dir := fixtures.Dir(t, "sudoku")
	tok, err := Open(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "eval.json"))
	if err != nil {
		t.Fatal(err)
	}
	var eval struct {
		Buckets map[string][]struct {
			ID        int     `json:"id"`
			Prompt    string  `json:"prompt"`
			PromptIDs []int32 `json:"prompt_ids"`
			Official  *struct {
				OutputIDs []int32 `json:"output_ids"`
				Text      *string `json:"text"`
			} `json:"official"`
		} `json:"buckets"`
	}
	if err := json.Unmarshal(data, &eval); err != nil {
		t.Fatal(err)
	}
	cases := 0
	for bucket, puzzles := range eval.Buckets {
		for _, p := range puzzles {
			if p.PromptIDs == nil {
				continue
			}
			cases++
			t.Run(fmt.Sprintf("%s/%d", bucket, p.ID), func(t *testing.T) {
				ids := tok.Encode(p.Prompt, EncodeOptions{AddSpecial: true})
				if diff := cmp.Diff(p.PromptIDs, ids); diff != "" {
					t.Errorf("ids (-want +got):\n%s", diff)
				}
				if got := tok.Decode(ids, true); got != p.Prompt {
					t.Errorf("Decode = %q, want %q", got, p.Prompt)
				}
			})
		}
	}
	if cases == 0 {
		t.Fatal("no prompt with ids")
	}
}
