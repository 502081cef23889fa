package kernel

import (
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
)

// In the steady state an operation allocates the closures of its work and
// nothing that grows with its inputs.
func TestSteadyStateAllocations(t *testing.T) {
	team := newTeam(t, 1) // of several, one might grow its scratch late
	r := newRandom(1)
	const rows, n, size = 24, 96, 1500
	x, y := uniforms(r, rows*n, 1), make([]float32, rows*n)
	w := newMatrix(t, dtype.BF16, n, n, uniforms(r, n*n, 1))
	table := newMatrix(t, dtype.BF16, size, n, uniforms(r, size*n, 1))
	grouped := newMatrix(t, dtype.BF16, 3*n, n, uniforms(r, 3*n*n, 1))

	in := newAttention(attentionCase{"", 4, 2, 24, 0, 700, causal(700, rows, unbounded)}, BF16)
	attention := &Attention{
		Q: in.q, Out: make([]float32, rows*n), Heads: 4, KVHeads: 2, Dim: 24,
		Spans: in.spans, Blocks: in.blocks(0, 700, 64), Round: BF16,
	}
	logits, stats := NewLogits(Vocabulary{Size: size, Softcap: 30}, rows, BF16), make([]canvas.Stats, rows)
	want := slices.Repeat([]HeadRow{plainRow(0.8, canvas.Address{})}, rows)
	for i := range want {
		want[i].Score, want[i].Top = []int32{1, 2}, 3
	}
	var headScratch HeadScratch
	var softScratch SoftScratch
	ids, weights := make([]int32, rows*2), make([]float32, rows*2)
	scores, scale := make([]float32, rows*8), slices.Repeat([]float32{1}, 8)
	var rot Rotation
	freq, positions, offsets := Frequencies(n/4, 1e4, 1, 1), make([]int, rows), []int{0, 9, 9, rows}

	for _, c := range []struct {
		name  string
		limit float64
		run   func()
	}{
		{"Linear", 1, func() { team.Linear(y, x, rows, w, BF16) }},
		{"LinearGrouped", 1, func() { team.LinearGrouped(y, x, offsets, grouped, n, BF16) }},
		{"RMSNorm", 2, func() { team.RMSNorm(y, x, nil, rows, 1e-6, BF16) }},
		{"GELUMul", 2, func() { team.GELUMul(y[:rows*n/2], x, rows, n/2, BF16) }},
		{"rotation", 4, func() {
			rot.Set(team, freq, positions, BF16)
			team.HeadNorm(y, nil, rows, 4, n/4, 1e-6, &rot, BF16)
		}},
		{"Route", 1, func() { team.Route(ids, weights, scores, scale, rows, 2) }},
		{"Attend", 1, func() { team.Attend(attention) }},
		{"Head", 2, func() { team.Head(logits, stats, x, table, want, &headScratch) }},
		{"SoftEmbed", 5, func() { team.SoftEmbed(y, logits, table, 53, &softScratch) }},
	} {
		got := testing.AllocsPerRun(20, c.run)
		t.Logf("%s: %v allocations", c.name, got)
		if got > c.limit {
			t.Errorf("%s allocates %v times, want at most %v", c.name, got, c.limit)
		}
	}
}
