package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/model/fake"
)

// headSizes are vocabularies around the width of a panel.
var headSizes = []int{1, 2, 255, 256, 257, 517, 1000}

// plainRow asks for what the official sampler asks.
func plainRow(temperature float32, draw canvas.Address) HeadRow {
	return HeadRow{Temperature: temperature, Candidates: canvas.Candidates{Temperature: 1}, Draw: draw}
}

// head runs Head on given head outputs z [rows × vocab.Size]: row r of x is the
// r-th unit vector, and column r of the table its outputs.
func head(t testing.TB, team *Team, vocab Vocabulary, z []float32, round Rounding, want []HeadRow) (*Logits, []canvas.Stats) {
	t.Helper()
	rows := len(want)
	table, x := make([]float32, len(z)), make([]float32, rows*rows)
	for r := range rows {
		x[r*rows+r] = 1
		for id := range vocab.Size {
			table[id*rows+r] = z[r*vocab.Size+id]
		}
	}
	l := NewLogits(vocab, rows, round)
	stats := make([]canvas.Stats, rows)
	team.Head(l, stats, x, newMatrix(t, dtype.F32, vocab.Size, rows, table), want, &HeadScratch{})
	return l, stats
}

// tokens lists the ids that are not masked.
func (v *Vocabulary) tokens() canvas.Noise {
	n := canvas.Noise{IDs: []int32{}}
	for id := range v.Size {
		if v.Masked == nil || !v.Masked[id] {
			n.IDs = append(n.IDs, int32(id))
		}
	}
	n.Count = len(n.IDs)
	return n
}

// capped are the soft-capped logits of head outputs, as fake.Stats takes them.
func (v *Vocabulary) capped(z []float32, round Rounding) []float32 {
	z = roundedTo(round, z)
	if v.Softcap != 0 {
		c := float64(v.Softcap)
		for i, x := range z {
			z[i] = float32(c * math.Tanh(float64(x)/c))
		}
	}
	return z
}

// compare fails where stats are not those of the float64 reference.
func compare(t *testing.T, what string, got canvas.Stats, vocab *Vocabulary, z []float32, round Rounding, want *HeadRow) {
	t.Helper()
	capped := vocab.capped(z, round)
	ref := fake.Stats(capped, vocab.tokens(), fake.Question{
		Adjust: want.Adjust, Temperature: want.Temperature, Candidates: want.Candidates,
		Allowed: want.Allowed, Draw: want.Draw, Score: want.Score, Top: want.Top,
	})
	if got.NonFinite != ref.NonFinite {
		t.Fatalf("%s: NonFinite is %v, want %v", what, got.NonFinite, ref.NonFinite)
	}
	if ref.NonFinite {
		return
	}
	if got.Argmax != ref.Argmax {
		t.Errorf("%s: argmax %d, want %d", what, got.Argmax, ref.Argmax)
	}
	if d := math.Abs(float64(got.Entropy - ref.Entropy)); !(d <= 1e-5) || got.Entropy < 0 {
		t.Errorf("%s: entropy %v, want %v", what, got.Entropy, ref.Entropy)
	}
	if got.Sample != ref.Sample && !nearBorder(capped, vocab, want, got.Sample, ref.Sample) {
		t.Errorf("%s: sample %d, want %d", what, got.Sample, ref.Sample)
	}
	close32 := cmp.Comparer(func(a, b float32) bool {
		return a == b || math.Abs(float64(a)-float64(b)) <= 1e-5
	})
	if diff := cmp.Diff(ref.Scores, slices.Clone(got.Scores), close32); diff != "" && len(ref.Scores) > 0 {
		t.Errorf("%s: scores (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(ref.Top, slices.Clone(got.Top), close32); diff != "" && len(ref.Top) > 0 {
		t.Errorf("%s: top (-want +got):\n%s", what, diff)
	}
}

// nearBorder reports whether the uniform of a plain draw lies within 1e-6 of the
// border between two samples.
func nearBorder(capped []float32, vocab *Vocabulary, want *HeadRow, a, b int32) bool {
	if !want.Candidates.Filter.Empty() || want.Allowed != nil || want.Candidates.Temperature == 0 {
		return false
	}
	processed := fake.Processed(capped, vocab.tokens(), want.Adjust, want.Temperature*want.Candidates.Temperature)
	var below, total float64
	for id, l := range processed {
		p := math.Exp(float64(l) - float64(slices.Max(processed)))
		total += p
		if id < int(max(a, b)) {
			below += p
		}
	}
	return math.Abs(uniform(want.Draw)-below/total) < 1e-6
}

// questions are ways to ask about a row over a vocabulary, each for the row's
// own address.
func questions(vocab *Vocabulary) map[string]HeadRow {
	ids := vocab.tokens().IDs
	some := func(every int) []int32 {
		var list []int32
		for i := 0; i < len(ids); i += every {
			list = append(list, ids[i])
		}
		return list
	}
	filtered := func(f canvas.Filter) HeadRow {
		return HeadRow{Temperature: 0.9, Candidates: canvas.Candidates{Temperature: 1, Filter: f}}
	}
	var adjust canvas.Adjustment
	for i, id := range some(3) {
		adjust.Repetition = append(adjust.Repetition, canvas.Factor{ID: id, Value: 1.3})
		if i%2 == 0 {
			adjust.Bias = append(adjust.Bias, canvas.Bias{ID: id, Value: float32(i%7) - 3})
		}
	}
	return map[string]HeadRow{
		"plain":                 plainRow(0.8, canvas.Address{}),
		"temperature 1":         plainRow(1, canvas.Address{}),
		"cold":                  plainRow(0.4083333, canvas.Address{}),
		"argmax":                {Temperature: 1},
		"candidates' own":       {Temperature: 0.7, Candidates: canvas.Candidates{Temperature: 1.7}},
		"adjusted":              {Temperature: 0.8, Adjust: adjust, Candidates: canvas.Candidates{Temperature: 1}},
		"top-k":                 filtered(canvas.Filter{TopK: 5}),
		"top-k of all":          filtered(canvas.Filter{TopK: 5000}),
		"top-p":                 filtered(canvas.Filter{TopP: 0.6}),
		"min-p":                 filtered(canvas.Filter{MinP: 0.2}),
		"all filters":           filtered(canvas.Filter{TopK: 20, TopP: 0.9, MinP: 0.05}),
		"allowed":               {Temperature: 0.8, Candidates: canvas.Candidates{Temperature: 1}, Allowed: some(5)},
		"one allowed":           {Temperature: 0.8, Candidates: canvas.Candidates{Temperature: 1}, Allowed: ids[len(ids)-1:]},
		"allowed, argmax":       {Temperature: 1, Allowed: some(4)},
		"allowed, adjusted":     {Temperature: 0.8, Adjust: adjust, Candidates: canvas.Candidates{Temperature: 0.5, Filter: canvas.Filter{TopP: 0.9}}, Allowed: some(2)},
		"scores and top":        {Temperature: 0.8, Adjust: adjust, Candidates: canvas.Candidates{Temperature: 1}, Score: []int32{ids[0], 0, ids[len(ids)-1], ids[0]}, Top: 7},
		"top of everything":     {Temperature: 1, Candidates: canvas.Candidates{Temperature: 1}, Top: 5000},
		"scores without sample": {Temperature: 1, Score: []int32{ids[len(ids)/2]}},
	}
}

func TestHeadEqualsReference(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		team := teamOf(t, kernels, 2)
		for _, size := range headSizes {
			vocabularies := map[string]Vocabulary{
				"bare":   {Size: size},
				"capped": {Size: size, Softcap: 30},
			}
			if size > 1 {
				masked := make([]bool, size)
				for id := range masked {
					masked[id] = id%3 == 0 || id > size-5 && id != 1
				}
				vocabularies["masked"] = Vocabulary{Size: size, Softcap: 30, Masked: masked}
			}
			for name, vocab := range vocabularies {
				for question, base := range questions(&vocab) {
					for _, round := range []Rounding{F32, BF16} {
						const rows = 3
						z := uniforms(newRandom(uint64(size)), rows*size, 8)
						want := slices.Repeat([]HeadRow{base}, rows)
						for r := range want {
							want[r].Draw = canvas.Address{Seed: uint64(size), Position: uint32(r), Purpose: canvas.PurposeCandidate}
						}
						_, stats := head(t, team, vocab, z, round, want)
						for r := range rows {
							what := fmt.Sprintf("%s vocabulary of %d, %s, %s, row %d", name, size, question, roundingName(round), r)
							compare(t, what, stats[r], &vocab, z[r*size:(r+1)*size], round, &want[r])
						}
					}
				}
			}
		}
	})
}

// Rows with unlike questions do not touch each other, and threads change nothing.
func TestHeadRowAlone(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		const size = 517
		vocab := Vocabulary{Size: size, Softcap: 30}
		var want []HeadRow
		for _, q := range questions(&vocab) {
			q.Draw = canvas.Address{Seed: 3, Position: uint32(len(want))}
			want = append(want, q)
		}
		rows := len(want)
		z := uniforms(newRandom(5), rows*size, 8)
		for _, round := range []Rounding{F32, BF16} {
			_, first := head(t, teamOf(t, kernels, 1), vocab, z, round, want)
			for _, threads := range threadCounts {
				team := teamOf(t, kernels, threads)
				if _, stats := head(t, team, vocab, z, round, want); !cmp.Equal(stats, first) {
					t.Errorf("%d threads: %s", threads, cmp.Diff(first, stats))
				}
				for r := range rows {
					_, alone := head(t, team, vocab, z[r*size:(r+1)*size], round, want[r:r+1])
					if diff := cmp.Diff(first[r], alone[0]); diff != "" {
						t.Errorf("row %d (-together +alone):\n%s", r, diff)
					}
				}
			}
		}
	})
}

// The reference entropies of model.md §5.3.
func TestHeadReferenceEntropies(t *testing.T) {
	team := newTeam(t, 2)
	for _, c := range []struct {
		size int
		a    float32
		want float64
	}{
		{10_000, 18, 0.0028930},
		{10_000, 14.5, 0.0777865},
		{10_000, 0, 9.2103404},
		{262_144, 0, 12.4766493},
		{10_000, 1e6, 0},
	} {
		z := make([]float32, c.size)
		z[c.size/2] = c.a
		_, stats := head(t, team, Vocabulary{Size: c.size}, z, F32, []HeadRow{plainRow(1, canvas.Address{})})
		near(t, fmt.Sprintf("%d ids, one with %v", c.size, c.a), []float32{stats[0].Entropy}, []float64{c.want}, 2e-6)
	}
}

// The entropies and argmaxes of the micro trace, model.md §5.5.
func TestHeadMicroTrace(t *testing.T) {
	z := []float32{
		9, 1, 0, 0, 0,
		4, 3.5, 0, 0, 0,
		0, 0, 8, 0, 1,
		1, 1, 1, 1, 1,
	}
	want := slices.Repeat([]HeadRow{plainRow(0.8, canvas.Address{})}, 4)
	_, stats := head(t, newTeam(t, 1), Vocabulary{Size: 5}, z, F32, want)
	for r, c := range []struct {
		entropy float64
		argmax  int32
	}{{0.000977, 0}, {0.721829, 0}, {0.003042, 2}, {1.609438, 0}} {
		near(t, fmt.Sprintf("entropy %d", r), []float32{stats[r].Entropy}, []float64{c.entropy}, 1e-6)
		if stats[r].Argmax != c.argmax {
			t.Errorf("argmax %d is %d, want %d", r, stats[r].Argmax, c.argmax)
		}
	}
}

// Of equal logits the lowest id is the argmax, also across panels.
func TestHeadTies(t *testing.T) {
	z := make([]float32, 1000)
	z[300], z[700], z[301] = 5, 5, 5
	_, stats := head(t, newTeam(t, 2), Vocabulary{Size: 1000}, z, F32, []HeadRow{{Temperature: 1, Top: 4}})
	if stats[0].Argmax != 300 || stats[0].Sample != 300 {
		t.Errorf("argmax %d, sample %d", stats[0].Argmax, stats[0].Sample)
	}
	var top []int32
	for _, s := range stats[0].Top {
		top = append(top, s.ID)
	}
	if !slices.Equal(top, []int32{300, 301, 700, 0}) {
		t.Errorf("top %v", top)
	}
}

// NaN or infinity flags its own row only, and stale statistics do not shine
// through.
func TestHeadNonFinite(t *testing.T) {
	eachClass(t, func(t *testing.T, kernels *Kernels) {
		const rows, size = 4, 600
		team := teamOf(t, kernels, 2)
		for _, bad := range []float32{nan32, negInf, -negInf} {
			x := []float32{1, bad, 2, 3} // the table has one column
			table := newMatrix(t, dtype.F32, size, 1, uniforms(newRandom(6), size, 1))
			want := slices.Repeat([]HeadRow{plainRow(1, canvas.Address{})}, rows)
			want[1].Score, want[1].Top = []int32{1}, 2
			stats := make([]canvas.Stats, rows)
			stats[1].Top = []canvas.Scored{{ID: 9}}
			stats[2].NonFinite = true
			team.Head(NewLogits(Vocabulary{Size: size}, rows, F32), stats, x, table, want, &HeadScratch{})
			for r := range stats {
				if got := stats[r].NonFinite; got != (r == 1) {
					t.Errorf("%v in row 1: row %d has NonFinite %v", bad, r, got)
				}
			}
			if len(stats[1].Top) != 0 {
				t.Errorf("a row that is not finite has top %v", stats[1].Top)
			}
		}
	})
}

// One bad logit anywhere in the row is found, masked or not.
func TestHeadFindsOneBadLogit(t *testing.T) {
	const size = 517
	masked := make([]bool, size)
	masked[516] = true
	team := newTeam(t, 1)
	for _, at := range []int{0, 255, 256, 515, 516} {
		z := make([]float32, size)
		z[at] = nan32
		_, stats := head(t, team, Vocabulary{Size: size, Masked: masked}, z, F32, []HeadRow{plainRow(1, canvas.Address{})})
		if !stats[0].NonFinite {
			t.Errorf("NaN at %d was not flagged", at)
		}
	}
}

// A finite logit that its temperature or bias makes infinite flags the row too.
func TestHeadProcessedLogitsOverflow(t *testing.T) {
	z := []float32{1, 2, 3, 1, 2, 3}
	want := []HeadRow{plainRow(1e-39, canvas.Address{}), plainRow(1, canvas.Address{})}
	_, stats := head(t, newTeam(t, 1), Vocabulary{Size: 3}, z, F32, want)
	if !stats[0].NonFinite || stats[1].NonFinite {
		t.Errorf("NonFinite %v, %v", stats[0].NonFinite, stats[1].NonFinite)
	}
	want[0] = plainRow(1, canvas.Address{})
	want[0].Adjust.Bias = []canvas.Bias{{ID: 1, Value: float32(math.Inf(1))}}
	_, stats = head(t, newTeam(t, 1), Vocabulary{Size: 3}, z, F32, want)
	if !stats[0].NonFinite || stats[1].NonFinite {
		t.Errorf("with a bias: NonFinite %v, %v", stats[0].NonFinite, stats[1].NonFinite)
	}
}

// Masked ids are never drawn and score -Inf, however large their outputs are.
func TestHeadMaskedIDs(t *testing.T) {
	const size, draws = 600, 64
	masked := make([]bool, size)
	z := make([]float32, 0, draws*size)
	want := make([]HeadRow, draws)
	for id := range masked {
		masked[id] = id%2 == 0 || id >= 512
	}
	for r := range want {
		want[r] = plainRow(1, canvas.Address{Seed: 8, Position: uint32(r)})
		want[r].Candidates.Temperature = []float32{0, 1, 1.5}[r%3]
		want[r].Score, want[r].Top = []int32{0, 1, 599}, size
		for id := range size {
			v := float32(id % 5)
			if masked[id] {
				v += 50
			}
			z = append(z, v)
		}
	}
	l, stats := head(t, newTeam(t, 2), Vocabulary{Size: size, Masked: masked}, z, F32, want)
	for r, s := range stats {
		if masked[s.Argmax] || masked[s.Sample] {
			t.Errorf("row %d: argmax %d, sample %d", r, s.Argmax, s.Sample)
		}
		if s.Scores[0] != negInf || s.Scores[2] != negInf || !Finite(s.Scores[1:2]) {
			t.Errorf("row %d: scores %v", r, s.Scores)
		}
		if len(s.Top) != 256 {
			t.Errorf("row %d: %d ids in top, want 256", r, len(s.Top))
		}
	}
	processed := make([]float32, size)
	l.Processed(processed, 0)
	for id, v := range processed {
		if (v == negInf) != masked[id] {
			t.Errorf("processed logit %d is %v", id, v)
		}
	}
}
