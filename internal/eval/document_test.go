package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/frescolm/fresco/internal/engine"
)

// someDocument has two buckets, two modes in the first, and both comparisons.
func someDocument() Document {
	results := attempts("46-55", "xx", "x-")
	for i := range results {
		results[i].Stops = []engine.CanvasStop{engine.StopConverged}
		results[i].Rewrites = &Rewrites{Changed: 4, WrongToRight: 2, RightToWrong: i}
	}
	results[3].Stops = []engine.CanvasStop{engine.StopCap}
	greedy := attempts("46-55", "x", "-")
	for i := range greedy {
		greedy[i].Mode = engine.Autoregressive
	}
	results = append(append(results, greedy...), attempts("40-45", "-", "-")...)
	puzzles := append(recorded("46-55", "xx"), recorded("40-45", "xx")...)
	series := uint64(7)
	setup := Setup{Model: "m", Version: "v", Series: &series, Arithmetic: "exact", CPU: "generic", Threads: 2, PlannedPuzzles: 4, PlannedAttempts: 9, Interrupted: true}
	return NewDocument(setup, Report{results}, puzzles, []Share{{Bucket: "46-55", Mode: engine.Diffusion, Exact: 0.985, Puzzles: 200}})
}

func TestWriteText(t *testing.T) {
	var b strings.Builder
	if err := someDocument().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `46-55 clues             diffusion            ar
  puzzles, attempts     2, 4                 2, 2
  exact by rule check   75.0 ± 25.0 %        50.0 ± 50.0 %
  cells right           97.2 ± 2.8 %         94.4 ± 5.6 %
  steps                 2.5 ± 0.5            3.0 ± 1.0
  stopped by            converged 3, cap 1   stop 2
  cells rewritten       4.0 ± 0.0            -
  wrong to right        2.0 ± 0.0            -
  right to wrong        1.5 ± 1.0            -
  seconds, mean         0.625                0.750
  seconds, median       0.500                0.750

40-45 clues             diffusion
  puzzles, attempts     2, 2
  exact by rule check   0.0 % (0 of 2)
  cells right           88.9 % (each of 2)
  steps                 4.0 ± 0.0
  stopped by            -
  cells rewritten       -
  wrong to right        -
  right to wrong        -
  seconds, mean         1.000
  seconds, median       1.000

exact, against the official outputs   puzzles   ours     official   difference     limit   result
  46-55 clues                         2         75.0 %   100.0 %    -25.0 ± 25.0   -50.0   pass
  40-45 clues                         2         0.0 %    100.0 %    -100.0 ± 0.0   +0.0    FAIL
  all clues                           4         37.5 %   100.0 %    -62.5 ± 23.9   -47.9   FAIL

exact, against the published share   puzzles   ours            published   limit    result
  46-55 clues, diffusion             2         75.0 ± 25.0 %   98.5 %      45.5 %   pass

`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := someDocument().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var again Document
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(someDocument(), again, approximately, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestPass(t *testing.T) {
	good, bad := Paired{Pass: true}, Paired{}
	goodShare, badShare := ShareComparison{Pass: true}, ShareComparison{}
	for _, c := range []struct {
		document Document
		want     bool
	}{
		{Document{}, true},
		{Document{Official: []Paired{good}, Shares: []ShareComparison{goodShare}}, true},
		{Document{Official: []Paired{good, bad}}, false},
		{Document{Shares: []ShareComparison{goodShare, badShare}}, false},
	} {
		if got := c.document.Pass(); got != c.want {
			t.Errorf("%+v: %v", c.document, got)
		}
	}
}

// full is a writer that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteErrors(t *testing.T) {
	if err := someDocument().WriteText(full{}); err == nil {
		t.Error("WriteText swallowed an error")
	}
	if err := someDocument().WriteJSON(full{}); err == nil {
		t.Error("WriteJSON swallowed an error")
	}
}
