package fresco

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An answered holds one request's first canvas after its first step, with its result.
type answered struct {
	canvas string
	result Result
}

// ask runs a request and notes the canvas of its first Draft.
func ask(t *testing.T, m *Model, o Options) answered {
	t.Helper()
	o.Drafts = true
	var a answered
	for event, err := range m.Generate(t.Context(), o) {
		if err != nil {
			t.Error(err)
			return a
		}
		switch e := event.(type) {
		case *Started:
			a.result.Seed, a.result.Mode = e.Seed, e.Mode
		case *Draft:
			if a.canvas == "" {
				a.canvas = fmt.Sprint(e.Current)
			}
		case *Finished:
			a.result.Finished = *e
			a.result.Timing = Timing{}
		}
	}
	return a
}

// Case C11 of the regression list, without a seed: the same request 3 times in
// sequence and 3 times at once starts differently each time, reports its seed, and
// gives the same bytes when that seed is given.
func TestC11WithoutSeed(t *testing.T) {
	models := []*Model{open(t), open(t), open(t)}
	// Nothing decides these canvases but the draws.
	request := Options{Prompt: "How do you do?", MaxSteps: 2, MaxTokens: 20, EntropyBound: Value(1e-6), NoGuards: true}
	var all []answered
	for range 3 {
		all = append(all, ask(t, models[0], request))
	}
	atOnce := make([]answered, len(models))
	var group sync.WaitGroup
	for i, m := range models {
		group.Go(func() { atOnce[i] = ask(t, m, request) })
	}
	group.Wait()
	all = append(all, atOnce...)

	seeds, canvases := map[uint64]bool{}, map[string]bool{}
	for i, a := range all {
		if seeds[a.result.Seed] || canvases[a.canvas] || a.canvas == "" {
			t.Errorf("request %d: seed %d or its canvas was there before", i, a.result.Seed)
		}
		seeds[a.result.Seed], canvases[a.canvas] = true, true

		again := request
		again.Seed = &a.result.Seed
		b := ask(t, models[i%len(models)], again)
		if diff := cmp.Diff(a.result, b.result); diff != "" || a.canvas != b.canvas {
			t.Errorf("request %d: seed %d gives something else (-first +again):\n%s", i, a.result.Seed, diff)
		}
	}
}
