package fresco_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/frescolm/fresco"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/liveview"
)

// replayVariable names the environment variable with which one request of
// TestSameBytes is run alone.
const replayVariable = "FRESCO_REPLAY"

// TestSameBytes generates requests and runs each with other threads, prefill
// chunks, and with and without a live view: whatever the way, the answer has the
// same bytes. A failure prints the line that replays it.
func TestSameBytes(t *testing.T) {
	requests := 5
	if fixtures.Full() {
		requests = 200
	}
	first := uint64(0)
	if line := os.Getenv(replayVariable); line != "" {
		n, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", replayVariable, err)
		}
		first, requests = n, 1
	}
	for _, class := range kernel.Classes() {
		if !class.Available {
			continue
		}
		for _, arithmetic := range []string{"exact", "bf16"} {
			t.Run(class.Name+"/"+arithmetic, func(t *testing.T) {
				models := map[int]*fresco.Model{}
				for _, threads := range []int{1, 2, 7} {
					m, err := fresco.Open("sudoku", &fresco.OpenOptions{Threads: threads, Arithmetic: arithmetic, KernelClass: class.Name})
					if err != nil {
						t.Fatal(err)
					}
					defer m.Close()
					models[threads] = m
				}
				for i := range requests {
					sameBytes(t, models, first+uint64(i))
				}
			})
		}
	}
}

// sameBytes runs the request of a number in every way.
func sameBytes(t *testing.T, models map[int]*fresco.Model, number uint64) {
	t.Helper()
	o := request(number)
	want := ""
	for _, w := range ways() {
		o.PrefillChunk = w.chunk
		got := answer(t, models[w.threads], o, w.live)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%+v: another answer\n got %s\nwant %s\nreplay with: %s=%d go test -run '^TestSameBytes$' .", w, got, want, replayVariable, number)
			return
		}
	}
}

// A way is how a request is run.
type way struct {
	threads, chunk int
	live           bool
}

// ways lists all combinations, or without FRESCO_TEST=full six in which every
// value meets two others.
func ways() []way {
	if !fixtures.Full() {
		return []way{{1, 0, false}, {2, 1, true}, {7, 13, false}, {2, 0, true}, {7, 1, false}, {1, 13, true}}
	}
	var all []way
	for _, threads := range []int{1, 2, 7} {
		for _, chunk := range []int{0, 1, 13} {
			all = append(all, way{threads, chunk, false}, way{threads, chunk, true})
		}
	}
	return all
}

// request makes up a request from its number.
func request(number uint64) fresco.Options {
	r := rand.New(rand.NewPCG(number, 1))
	seed := r.Uint64N(1 << 53)
	o := fresco.Options{Seed: &seed, Attempt: r.IntN(4)}
	switch r.IntN(4) {
	case 0:
		o.Prompt, o.Raw = "the quick brown fox jumps over the lazy dog, then it sleeps", true
		o.MaxSteps = 1 + r.IntN(4)
		o.MaxTokens = 1 + r.IntN(150)
	case 1:
		for range 1 + r.IntN(150) {
			o.IDs = append(o.IDs, int32(r.IntN(384)))
		}
		o.MaxSteps, o.MaxTokens = 2, 1+r.IntN(120)
	case 2:
		o.Prompt = puzzle
		o.Steps = 1 + r.IntN(8)
	case 3:
		o.Prompt, o.Mode = puzzle, fresco.Autoregressive
		o.Temperature = fresco.Value(r.Float64())
		o.TopK, o.MaxTokens = r.IntN(20), 1+r.IntN(30)
	}
	if o.Mode == "" && r.IntN(3) == 0 {
		o.Canvas = 1 + r.IntN(96)
	}
	if r.IntN(3) == 0 {
		o.Stop = []string{"5"}
	}
	return o
}

const puzzle = `496.2..7.
8176.43..
..2897..6
3.8......
2..3.94..
169..5783
.23..6..8
7.1..8..4
6...1293.`

// answer runs a request and returns everything about its answer but the times.
func answer(t *testing.T, m *fresco.Model, o fresco.Options, live bool) string {
	t.Helper()
	o.Drafts = live
	size := func() liveview.Size { return liveview.Size{Width: 100, Height: 40} }
	view := liveview.NewView(io.Discard, size, liveview.Colour, &liveview.Glyphs{
		Text:    func(id int32) string { text, _ := m.Token(id); return text },
		Special: func(id int32) bool { _, special := m.Token(id); return special },
	})
	text := ""
	for event, err := range m.Generate(t.Context(), o) {
		if err != nil {
			t.Fatalf("request %+v: %v", o, err)
		}
		switch e := event.(type) {
		case *fresco.Draft:
			if err := view.Draft(e); err != nil {
				t.Fatal(err)
			}
		case *fresco.Committed:
			text += e.Text
		case *fresco.Finished:
			if e.Text != text {
				t.Errorf("committed texts %q, the answer %q", text, e.Text)
			}
			f := *e
			f.Timing = fresco.Timing{}
			data, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
	}
	t.Fatal(fmt.Errorf("request %+v did not finish", o))
	return ""
}
