package eval

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/frescolm/fresco/internal/engine"
)

// An Outcome is what one attempt at a puzzle came to.
type Outcome struct {
	// Text is the whole answer.
	Text string
	// Steps counts the denoising steps, or the one-token passes of
	// autoregressive mode.
	Steps  int
	Finish engine.FinishReason
	// Stops says why each canvas stopped; none in autoregressive mode.
	Stops []engine.CanvasStop
	// Drafts are the argmax canvases of the first canvas, one a denoising step;
	// when it was redrawn, those of the second attempt.
	Drafts [][]int32
	// Took is the time of prefill and decoding.
	Took time.Duration
}

// Collect runs an answer to its end and gathers its outcome. Drafts are there
// only if the request asked for them. The error is that of the events, or says
// that they ended without Finished.
func Collect(events iter.Seq2[engine.Event, error]) (Outcome, error) {
	var o Outcome
	finished := false
	redraw := false
	for event, err := range events {
		if err != nil {
			return o, err
		}
		switch e := event.(type) {
		case *engine.Draft:
			if e.Canvas != 0 {
				continue
			}
			if e.Redraw && !redraw {
				redraw, o.Drafts = true, nil
			}
			o.Drafts = append(o.Drafts, slices.Clone(e.Best))
		case *engine.Finished:
			finished = true
			o.Text, o.Finish, o.Steps = e.Text, e.Reason, e.Usage.Forwards
			o.Took = e.Timing.Prefill + e.Timing.Decode
			for _, c := range e.Canvases {
				o.Stops = append(o.Stops, c.Stop)
			}
		}
	}
	if !finished {
		return o, errors.New("eval: the answer's events ended without Finished")
	}
	return o, nil
}

// Rewrites counts how tokens of an answer changed from one denoising step's
// argmax canvas to the next's. The first step changes nothing, since the canvas
// before it is noise.
type Rewrites struct {
	// Changed counts all changes; those that are neither of the other two went
	// from one wrong token to another.
	Changed      int `json:"changed"`
	WrongToRight int `json:"wrong_to_right"`
	RightToWrong int `json:"right_to_wrong"`
}

// CountRewrites compares each draft with the next at the positions of want, the
// tokens of the right answer.
func CountRewrites(drafts [][]int32, want []int32) Rewrites {
	var r Rewrites
	for step := 1; step < len(drafts); step++ {
		before, after := drafts[step-1], drafts[step]
		for i, right := range want {
			if i >= len(before) || i >= len(after) || before[i] == after[i] {
				continue
			}
			r.Changed++
			switch right {
			case after[i]:
				r.WrongToRight++
			case before[i]:
				r.RightToWrong++
			}
		}
	}
	return r
}
