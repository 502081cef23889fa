package weights

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	stored := []string{
		"lm_head.weight",
		"model.language_model.layers.0.mlp.up_proj.weight",
		"model.language_model.layers.1.mlp.up_proj.weight",
		"model.language_model.layers.10.mlp.up_proj.weight",
		"model.language_model.layers.11.mlp.up_proj.weight",
		"model.language_model.norm.weight",
		"layer_scalar",
	}
	for _, c := range []struct {
		wanted []string
		want   []string
	}{
		{[]string{"model.decoder.norm.weight"}, []string{"model.language_model.norm.weight"}},
		{[]string{"norm.weight"}, []string{"model.language_model.norm.weight"}},
		{[]string{"model.language_model.nrom.weight"}, []string{"model.language_model.norm.weight"}},
		{[]string{"model.decoder.layers.1.mlp.up_proj.weight"}, []string{
			"model.language_model.layers.1.mlp.up_proj.weight",
		}},
		{[]string{"model.language_model.layers.2.mlp.up_proj.weight"}, []string{ // of four, the first three
			"model.language_model.layers.0.mlp.up_proj.weight",
			"model.language_model.layers.1.mlp.up_proj.weight",
			"model.language_model.layers.10.mlp.up_proj.weight",
		}},
		{[]string{"a.b.c", "lm_heads.weight"}, []string{"lm_head.weight"}},
		{[]string{"lm_heads.weight", "lm_head_.weight"}, []string{"lm_head.weight"}}, // once
		{[]string{"model.layers.0.router.scale"}, nil},
		{[]string{""}, nil},
	} {
		if diff := cmp.Diff(c.want, nearest(c.wanted, stored)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.wanted, diff)
		}
	}
	if got := nearest([]string{"a"}, nil); got != nil {
		t.Errorf("nothing is stored: %v", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"abc", "abc", 0},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("ab.")), 0, 8, -1)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		ab, ba, bc, ac := editDistance(a, b), editDistance(b, a), editDistance(b, c), editDistance(a, c)
		if ab != ba || (ab == 0) != (a == b) || ac > ab+bc {
			t.Errorf("no metric: %d, %d, %d, %d", ab, ba, bc, ac)
		}
		if d := differing(a, b); d < ab {
			t.Errorf("differing %d is below the edit distance %d", d, ab)
		}
	})
}

// A folder of another family, as large as they come.
func BenchmarkNearest(b *testing.B) {
	var stored []string
	for i := range 2000 {
		stored = append(stored, fmt.Sprintf("model.language_model.layers.%d.mlp.experts.%d.up_proj.weight", i/40, i%40))
	}
	for b.Loop() {
		nearest([]string{"model.decoder.layers.29.mlp.experts.3.up_proj.weight", "model.encoder.layers.29.mlp.experts.3.up_proj.weight"}, stored)
	}
}
