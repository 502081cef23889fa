package diffusion

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
)

// begun returns a sampler with a canvas of the given cells in hand.
func begun(t testing.TB, s Settings, length int, cells ...canvas.Cell) *Sampler {
	t.Helper()
	draws, err := NewPhilox(canvas.Noise{Count: 300})
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := New(s, Answer{Seed: 5}, draws)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sampler.Begin(Canvas{Length: length, Cells: cells}); err != nil {
		t.Fatal(err)
	}
	return sampler
}

// observe runs one step with the given entropies and argmax ids.
func observe(t testing.TB, s *Sampler, entropy []float32, argmax []int32) Decision {
	t.Helper()
	if _, err := s.Step(); err != nil {
		t.Fatal(err)
	}
	stats := make([]canvas.Stats, len(entropy))
	for i := range stats {
		stats[i] = canvas.Stats{Argmax: argmax[i], Entropy: entropy[i], Sample: argmax[i] + 100}
	}
	d, err := s.Observe(stats)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want one with %q", err, part)
	}
}

func TestPassAddresses(t *testing.T) {
	draws, err := NewPhilox(canvas.Noise{Count: 300})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(official(), Answer{Seed: 77, Choice: 3, Attempt: 5}, draws)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(Canvas{Index: 2, Length: 2, Redraw: true}); err != nil {
		t.Fatal(err)
	}
	observe(t, s, []float32{1, 1}, []int32{1, 2})
	pass, err := s.Step()
	if err != nil {
		t.Fatal(err)
	}
	want := canvas.Address{Seed: 77, Canvas: 2, Step: 1, Attempt: 11, Purpose: canvas.PurposeCandidate, Choice: 3}
	if diff := cmp.Diff(want, pass.Draw); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if pass.Index != 1 || pass.Temperature != s.settings.Temperature(47) {
		t.Errorf("step %d at temperature %v", pass.Index, pass.Temperature)
	}
}

func TestAddressRefusesWhatDoesNotFit(t *testing.T) {
	for _, test := range []struct {
		answer Answer
		index  int
		part   string
	}{
		{Answer{Attempt: 128}, 0, "attempt 128"},
		{Answer{Attempt: -1}, 0, "attempt -1"},
		{Answer{Choice: 65536}, 0, "choice 65536"},
		{Answer{Choice: -1}, 0, "choice -1"},
		{Answer{}, -1, "index -1"},
		{Answer{}, 1 << 32, "index 4294967296"},
	} {
		_, err := test.answer.Address(test.index, false)
		wantError(t, err, test.part)
	}
	at, err := Answer{Seed: math.MaxUint64, Choice: 65535, Attempt: 127}.Address(1<<32-1, true)
	if err != nil {
		t.Fatal(err)
	}
	want := canvas.Address{Seed: math.MaxUint64, Canvas: 1<<32 - 1, Attempt: 255, Choice: 65535}
	if at != want {
		t.Errorf("address %+v, want %+v", at, want)
	}
}

func TestPhiloxNoise(t *testing.T) {
	_, err := NewPhilox(canvas.Noise{})
	wantError(t, err, "0 ids")
	_, err = NewPhilox(canvas.Noise{Count: 3, IDs: []int32{1, 2}})
	wantError(t, err, "2 ids listed, 3 counted")

	// A list is drawn from by index, so ids without a token never come up.
	listed, err := NewPhilox(canvas.Noise{Count: 3, IDs: []int32{10, 20, 30}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := NewPhilox(canvas.Noise{Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int32]bool{}
	for p := range uint32(64) {
		at := canvas.Address{Seed: 1, Position: p}
		if got, want := listed.ID(at), 10*(all.ID(at)+1); got != want {
			t.Fatalf("position %d: id %d, want %d", p, got, want)
		}
		seen[listed.ID(at)] = true
	}
	if len(seen) != 3 {
		t.Errorf("64 draws from three ids gave %v", seen)
	}
}

func TestCallsOutOfOrder(t *testing.T) {
	_, err := New(official(), Answer{}, nil)
	wantError(t, err, "no source of draws")

	fresh, err := New(official(), Answer{}, Philox{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = fresh.Step()
	wantError(t, err, "no canvas was begun")
	_, err = fresh.Observe(nil)
	wantError(t, err, "no canvas was begun")

	s := begun(t, official(), 2)
	_, err = s.Observe(make([]canvas.Stats, 2))
	wantError(t, err, "not asked for")
	first, err := s.Step()
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Step()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("Step changed something:\n%s", diff)
	}
	_, err = s.Observe(make([]canvas.Stats, 3))
	wantError(t, err, "3 positions of 2")
	if _, err := s.Observe(make([]canvas.Stats, 2)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Observe(make([]canvas.Stats, 2))
	wantError(t, err, "not asked for")
}

func TestBeginRefuses(t *testing.T) {
	s := begun(t, official(), 2)
	for _, test := range []struct {
		canvas Canvas
		part   string
	}{
		{Canvas{Length: 0}, "length 0"},
		{Canvas{Length: -1}, "length -1"},
		{Canvas{Length: 1, Index: -1}, "index -1"},
		{Canvas{Length: 1, Cells: make([]canvas.Cell, 2)}, "2 cells for 1 positions"},
		{Canvas{Length: 2, Cells: []canvas.Cell{{}, {Kind: canvas.Pinned, ID: -4}}}, "position 1: pinned to id -4"},
		{Canvas{Length: 2, Cells: []canvas.Cell{{Kind: 9}}}, "position 0: unknown kind of cell 9"},
	} {
		_, err := s.Begin(test.canvas)
		wantError(t, err, test.part)
	}
	if _, err := s.Step(); err != nil {
		t.Errorf("a refused Begin spoilt the canvas in hand: %v", err)
	}
}

func TestObserveRefusesNonFinite(t *testing.T) {
	for _, bad := range []canvas.Stats{
		{Entropy: float32(math.NaN())}, {Entropy: float32(math.Inf(1))}, {Entropy: float32(math.Inf(-1))}, {NonFinite: true},
	} {
		s := begun(t, official(), 3)
		observe(t, s, []float32{3, 0.2, 4}, []int32{1, 2, 3})
		pass, err := s.Step()
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(pass.IDs)
		_, err = s.Observe([]canvas.Stats{{}, bad, {}})
		wantError(t, err, "canvas 0, step 1, position 1")
		if diff := cmp.Diff(before, pass.IDs); diff != "" || s.Steps() != 1 {
			t.Errorf("the refused statistics changed the canvas (%d steps):\n%s", s.Steps(), diff)
		}
	}
}

// Before the first step the best guess is the starting canvas; nothing counts as
// rewritten until there are two guesses to compare.
func TestBestAndRewritten(t *testing.T) {
	s := begun(t, official(), 3, canvas.Cell{}, canvas.Cell{Kind: canvas.Pinned, ID: 7})
	pass, err := s.Step()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pass.IDs, s.Best()); diff != "" {
		t.Errorf("best before the first step:\n%s", diff)
	}
	first := observe(t, s, []float32{1, 1, 1}, []int32{1, 2, 3})
	if slices.Contains(first.Rewritten, true) {
		t.Errorf("rewritten in the first step: %v", first.Rewritten)
	}
	second := observe(t, s, []float32{1, 1, 1}, []int32{1, 5, 6})
	if diff := cmp.Diff([]bool{false, false, true}, second.Rewritten); diff != "" {
		t.Errorf("rewritten: want (-), got (+):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{1, 7, 6}, second.Best); diff != "" {
		t.Errorf("best: want (-), got (+):\n%s", diff)
	}
}

// The longer canvas of a sampler leaves nothing behind in a shorter one.
func TestCanvasesOfUnequalLength(t *testing.T) {
	s := begun(t, official(), 8)
	observe(t, s, make([]float32, 8), make([]int32, 8))
	start, err := s.Begin(Canvas{Index: 1, Length: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(start) != 3 {
		t.Fatalf("%d ids", len(start))
	}
	got := observe(t, s, []float32{1, 2, 3}, []int32{4, 5, 6})
	alone, err := New(official(), Answer{Seed: 5}, s.draws)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Begin(Canvas{Index: 1, Length: 3}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(observe(t, alone, []float32{1, 2, 3}, []int32{4, 5, 6}), got); diff != "" {
		t.Errorf("alone (-), after a longer canvas (+):\n%s", diff)
	}
}

func TestStepsAllocateNothing(t *testing.T) {
	settings := official()
	settings.Steps, settings.ConfidenceOff = 65535, true
	s := begun(t, settings, 256, canvas.Cell{Kind: canvas.Pinned, ID: 3})
	stats := make([]canvas.Stats, 256)
	for i := range stats {
		stats[i] = canvas.Stats{Argmax: int32(i), Sample: int32(i + 1), Entropy: float32((i*37)%256) / 100}
	}
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := s.Step(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Observe(stats); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations a step", allocations)
	}
	again := testing.AllocsPerRun(10, func() {
		if _, err := s.Begin(Canvas{Length: 200}); err != nil {
			t.Fatal(err)
		}
	})
	if again != 0 {
		t.Errorf("%v allocations for a canvas no longer than one before", again)
	}
}

func BenchmarkStep(b *testing.B) {
	settings := official()
	settings.ConfidenceOff = true
	s := begun(b, settings, 256)
	stats := make([]canvas.Stats, 256)
	for i := range stats {
		stats[i] = canvas.Stats{Argmax: int32(i), Sample: int32(i + 1), Entropy: float32((i*37)%256) / 100}
	}
	b.ReportAllocs()
	for b.Loop() {
		if s.Stopped() != NotStopped {
			if _, err := s.Begin(Canvas{Length: 256}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := s.Step(); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Observe(stats); err != nil {
			b.Fatal(err)
		}
	}
}
