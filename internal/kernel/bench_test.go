package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
)

// The benchmarks have shapes of the full-size model (hidden 2,816, canvas 256),
// but a part of the rows or of the vocabulary where all would take too long.
const (
	benchHidden = 2816
	benchRows   = 256
	benchVocab  = 4096
)

// eachTeam runs a benchmark on every kernel class of the machine, with one and
// with two threads.
func eachTeam(b *testing.B, f func(b *testing.B, team *Team)) {
	for _, class := range Classes() {
		if !class.Available {
			continue
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", class.Name, threads), func(b *testing.B) {
				k, err := Choose(class.Name)
				if err != nil {
					b.Fatal(err)
				}
				team := NewTeam(k, threads)
				b.Cleanup(team.Close)
				f(b, team)
			})
		}
	}
}

// reportFlops reports multiplications and additions for each core.
func reportFlops(b *testing.B, team *Team, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9/float64(team.Workers()), "GFLOP/s/core")
}

// BenchmarkLinear is the dense MLP product, 256 × 2,112 × 2,816 in float32.
func BenchmarkLinear(b *testing.B) {
	const n = 2112
	eachTeam(b, func(b *testing.B, team *Team) {
		w := newMatrix(b, dtype.F32, n, benchHidden, make([]float32, n*benchHidden))
		x, dst := uniforms(newRandom(1), benchRows*benchHidden, 0.5), make([]float32, benchRows*n)
		for b.Loop() {
			team.Linear(dst, x, benchRows, w, F32)
		}
		reportFlops(b, team, 2*benchRows*n*benchHidden)
	})
}

// BenchmarkAttend is a quarter of a canvas after 1,500 committed tokens: on a
// sliding layer (16 heads of 256 over 8, 1,279 keys) and on a full one (16 of 512
// over 2, 1,756 keys).
func BenchmarkAttend(b *testing.B) {
	const rows, heads, end = 64, 16, 1756
	for _, c := range []struct {
		name               string
		kvHeads, dim, keys int
	}{{"sliding", 8, 256, 1279}, {"full", 2, 512, 1756}} {
		b.Run(c.name, func(b *testing.B) {
			eachTeam(b, func(b *testing.B, team *Team) {
				in := newAttention(attentionCase{"", heads, c.kvHeads, c.dim, end - c.keys, c.keys,
					slices.Repeat([]Span{{end - c.keys, end}}, rows)}, BF16)
				a := &Attention{
					Q: in.q, Out: make([]float32, len(in.q)), Heads: heads, KVHeads: c.kvHeads, Dim: c.dim,
					Spans: in.spans, Blocks: in.blocks(in.base, end, 64), Round: BF16,
				}
				for b.Loop() {
					team.Attend(a)
				}
				reportFlops(b, team, 4*rows*heads*float64(c.keys*c.dim))
			})
		})
	}
}

// BenchmarkHead is the head of a canvas over 4,096 ids.
func BenchmarkHead(b *testing.B) {
	eachTeam(b, func(b *testing.B, team *Team) {
		table := newMatrix(b, dtype.BF16, benchVocab, benchHidden, uniforms(newRandom(2), benchVocab*benchHidden, 0.125))
		x := roundedTo(BF16, uniforms(newRandom(3), benchRows*benchHidden, 1))
		l, stats := NewLogits(Vocabulary{Size: benchVocab, Softcap: 30}, benchRows, BF16), make([]canvas.Stats, benchRows)
		want := slices.Repeat([]HeadRow{plainRow(0.8, canvas.Address{Purpose: canvas.PurposeCandidate})}, benchRows)
		var scratch HeadScratch
		for b.Loop() {
			team.Head(l, stats, x, table, want, &scratch)
		}
		reportFlops(b, team, 2*benchRows*benchVocab*benchHidden)
	})
}

// BenchmarkSoftEmbed is the self-conditioning signal of a canvas over
// 4,096 ids.
func BenchmarkSoftEmbed(b *testing.B) {
	eachTeam(b, func(b *testing.B, team *Team) {
		table := newMatrix(b, dtype.BF16, benchVocab, benchHidden, uniforms(newRandom(4), benchVocab*benchHidden, 0.125))
		l := NewLogits(Vocabulary{Size: benchVocab, Softcap: 30}, benchRows, BF16)
		if err := l.Set(uniforms(newRandom(5), benchRows*benchVocab, 16)); err != nil {
			b.Fatal(err)
		}
		dst := make([]float32, benchRows*benchHidden)
		var scratch SoftScratch
		for b.Loop() {
			team.SoftEmbed(dst, l, table, 53, &scratch)
		}
		reportFlops(b, team, 2*benchRows*benchVocab*benchHidden)
	})
}

// BenchmarkRMSNorm is one norm of a canvas.
func BenchmarkRMSNorm(b *testing.B) {
	eachTeam(b, func(b *testing.B, team *Team) {
		x, w := uniforms(newRandom(6), benchRows*benchHidden, 4), uniforms(newRandom(7), benchHidden, 1)
		dst := make([]float32, len(x))
		b.SetBytes(int64(8 * len(x)))
		for b.Loop() {
			team.RMSNorm(dst, x, w, benchRows, 1e-6, BF16)
		}
	})
}

// BenchmarkPanel is what the head adds to its product: soft-cap, temperature and
// statistics of one panel.
func BenchmarkPanel(b *testing.B) {
	vocab := Vocabulary{Size: VocabPanel, Softcap: 30}
	row := vocabRow{&vocab, &processing{temperature: 0.8}, make([]panelSums, 1)}
	outputs := uniforms(newRandom(8), VocabPanel, 16)
	z := make([]float32, VocabPanel)
	for b.Loop() {
		copy(z, outputs)
		vocabPanelGeneric(&row, 0, z)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/VocabPanel, "ns/id")
}
