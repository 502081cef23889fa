package gemma

import (
	"path/filepath"
	"testing"
)

// smallCheckpoint returns the folder, below that of the text fixtures, of the
// first float32 checkpoint that a case encodes a prompt with: what it is called
// and shaped is the fixtures' business.
func smallCheckpoint(t testing.TB) string {
	t.Helper()
	g := openGolden(t)
	for i := range g.cases {
		if c := &g.cases[i]; c.Kind == "encode" && !c.has("logits_f32") {
			return filepath.Join(g.checkpoints, c.Checkpoint)
		}
	}
	t.Fatal("the index holds no case of kind encode")
	return ""
}
