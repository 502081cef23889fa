package diffusion

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/frescolm/fresco/internal/canvas"
)

// byPosition draws ids that depend on position and step alone, so that a permuted
// run can be given the permuted draws.
type byPosition []uint32 // label of each position

func (b byPosition) ID(at canvas.Address) int32 {
	return int32(10000*(uint32(at.Step)+1)*uint32(at.Purpose+1) + b[at.Position])
}

// A scene is random statistics for a few steps of one canvas.
type scene struct {
	settings Settings
	cells    []canvas.Cell
	steps    [][]canvas.Stats
}

// drawScene draws entropies from distinct values when distinct is set, and
// otherwise from few, so that ties are common.
func drawScene(t *rapid.T, distinct bool) scene {
	length := rapid.IntRange(1, 40).Draw(t, "length")
	s := scene{settings: Settings{
		Steps: rapid.IntRange(1, 5).Draw(t, "steps"), TMin: 0.4, TMax: 0.8,
		EntropyBound: rapid.SampledFrom([]float32{0.001, 0.1, 1, 10}).Draw(t, "bound"),
		Stability:    rapid.IntRange(0, 2).Draw(t, "stability"),
		Confidence:   rapid.SampledFrom([]float32{0.005, 0.5}).Draw(t, "confidence"),
	}}
	for range length {
		cell := canvas.Cell{}
		if rapid.IntRange(0, 3).Draw(t, "pin") == 0 {
			cell = canvas.Cell{Kind: canvas.Pinned, ID: rapid.Int32Range(0, 99).Draw(t, "id")}
		}
		s.cells = append(s.cells, cell)
	}
	for range s.settings.Steps {
		var levels []int
		if distinct {
			levels = rapid.Permutation(sequence(length)).Draw(t, "levels")
		} else {
			levels = rapid.SliceOfN(rapid.IntRange(0, 6), length, length).Draw(t, "levels")
		}
		scale := rapid.SampledFrom([]float32{0, 0.0001, 0.01, 0.3}).Draw(t, "scale")
		if distinct && scale == 0 {
			scale = 0.001
		}
		stats := make([]canvas.Stats, length)
		for i := range stats {
			stats[i] = canvas.Stats{
				Entropy: float32(levels[i]+1) * scale,
				Argmax:  rapid.Int32Range(0, 1).Draw(t, "argmax"),
				Sample:  rapid.Int32Range(100, 199).Draw(t, "sample"),
			}
		}
		s.steps = append(s.steps, stats)
	}
	return s
}

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// run plays a scene until the canvas stops and calls check after every step.
func (s scene) run(t *rapid.T, labels []uint32, check func(step int, d Decision)) *Sampler {
	sampler, err := New(s.settings, Answer{}, byPosition(labels))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sampler.Begin(Canvas{Length: len(s.cells), Cells: s.cells}); err != nil {
		t.Fatal(err)
	}
	for step := 0; sampler.Stopped() == NotStopped; step++ {
		if _, err := sampler.Step(); err != nil {
			t.Fatal(err)
		}
		d, err := sampler.Observe(s.steps[step])
		if err != nil {
			t.Fatal(err)
		}
		check(step, d)
	}
	return sampler
}

func labels(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(i)
	}
	return out
}

func TestDecisionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, false)
		sampler := s.run(t, labels(len(s.cells)), func(step int, d Decision) {
			stats := s.steps[step]
			if d.AcceptedCount < 1 || d.AcceptedCount != count(d.Accepted) {
				t.Fatalf("step %d: %d accepted, mask %v", step, d.AcceptedCount, d.Accepted)
			}
			for i, cell := range s.cells {
				switch {
				case cell.Kind == canvas.Pinned:
					if d.Accepted[i] || d.Renoised[i] || d.Rewritten[i] || d.Next[i] != cell.ID || d.Best[i] != cell.ID {
						t.Fatalf("step %d: pinned position %d: %+v", step, i, d)
					}
				case d.Accepted[i] == d.Renoised[i]:
					t.Fatalf("step %d: position %d is accepted and renoised, or neither", step, i)
				case d.Accepted[i] && d.Next[i] != stats[i].Sample:
					t.Fatalf("step %d: accepted position %d became %d, want %d", step, i, d.Next[i], stats[i].Sample)
				case d.Renoised[i] && d.Next[i] < 10000:
					t.Fatalf("step %d: renoised position %d became %d", step, i, d.Next[i])
				case d.Best[i] != stats[i].Argmax:
					t.Fatalf("step %d: best of position %d is %d", step, i, d.Best[i])
				}
			}
			checkPrefix(t, s, stats, d)
		})
		if stop := sampler.Stopped(); (stop == AllPinned) != (sampler.free == 0) || stop == CapReached && sampler.Steps() != s.settings.Cap() {
			t.Fatalf("%v after %d steps with %d free positions", stop, sampler.Steps(), sampler.free)
		}
	})
}

// checkPrefix: no free position was accepted while a surer one (or an equal one
// before it) was not. Rounding at the cut may break this by the rounding of a sum,
// so it is asked of the entropies that are clearly apart.
func checkPrefix(t *rapid.T, s scene, stats []canvas.Stats, d Decision) {
	const rounding = 1e-5
	for i := range stats {
		for j := range stats {
			if s.cells[i].Kind == canvas.Pinned || s.cells[j].Kind == canvas.Pinned || !d.Accepted[i] || d.Accepted[j] {
				continue
			}
			if hi, hj := stats[i].Entropy, stats[j].Entropy; hj < hi-rounding || hj == hi && j < i {
				t.Fatalf("position %d (%v nats) is accepted, %d (%v nats) is not", i, hi, j, hj)
			}
		}
	}
}

// Without ties the positions of a canvas are alike: permuted cells, statistics and
// draws give the permuted decisions.
func TestPermutationEquivariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t, true)
		n := len(s.cells)
		from := rapid.Permutation(sequence(n)).Draw(t, "permutation")
		moved := scene{settings: s.settings, cells: permuted(s.cells, from)}
		for _, stats := range s.steps {
			moved.steps = append(moved.steps, permuted(stats, from))
		}
		type outcome struct {
			accepted        []bool
			next, best      []int32
			stable, stopped bool
		}
		var want []outcome
		s.run(t, labels(n), func(_ int, d Decision) {
			want = append(want, outcome{
				permuted(d.Accepted, from), permuted(d.Next, from), permuted(d.Best, from), d.Stable, d.Stop != NotStopped,
			})
		})
		steps := 0
		moved.run(t, permuted(labels(n), from), func(step int, d Decision) {
			if step >= len(want) {
				t.Fatalf("the permuted canvas goes on after %d steps", step)
			}
			w := want[step]
			if !slices.Equal(w.accepted, d.Accepted) || !slices.Equal(w.next, d.Next) || !slices.Equal(w.best, d.Best) ||
				w.stable != d.Stable || w.stopped != (d.Stop != NotStopped) {
				t.Fatalf("step %d: want %+v, got %+v", step, w, d)
			}
			steps++
		})
		if steps != len(want) {
			t.Fatalf("the permuted canvas stops after %d steps of %d", steps, len(want))
		}
	})
}

func permuted[T any](values []T, from []int) []T {
	out := make([]T, len(values))
	for i, j := range from {
		out[i] = values[j]
	}
	return out
}
