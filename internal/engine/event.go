package engine

import "time"

// An Event is something that happened to a request: *Started, *Prefilled,
// *Draft, *Committed or *Finished. What an event points to is valid until the
// next event is asked for, except in *Finished.
type Event interface{ event() }

// Started is the first event, before any work.
type Started struct {
	PromptTokens int
	Seed         uint64
	Mode         Mode
}

// Prefilled reports that Done of Total prompt tokens are committed.
type Prefilled struct{ Done, Total int }

// Draft is the state of a canvas after one denoising step.
type Draft struct {
	// Canvas counts from 0, Step from 1; Steps is the step cap.
	Canvas, Step, Steps int
	// Redraw is true for the second attempt at a canvas.
	Redraw bool
	// Temperature is that of the step, MeanEntropy the mean over free positions
	// in nats.
	Temperature, MeanEntropy float32
	// Best is the argmax canvas: the current best guess.
	Best []int32
	// Current is the canvas as the next step will see it.
	Current []int32
	// Accepted marks the positions accepted in this step; the others were
	// renoised. Pinned marks given positions. Rewritten marks positions whose
	// best guess changed in this step.
	Accepted, Pinned, Rewritten []bool
	// Entropy is that of each position in nats, 0 where pinned.
	Entropy []float32
	// AcceptedCount counts Accepted among free positions.
	AcceptedCount int
}

// Committed is new text that will not change any more: in diffusion mode a
// canvas, in autoregressive mode a token. IDs and Text may be empty while a
// possible stop text is held back, and Text inside a character; what was held
// back and turned out to be no stop text comes with the next one, at the latest
// before Finished.
type Committed struct {
	// IDs are the new tokens of the answer.
	IDs  []int32
	Text string
}

// Finished is the last event.
type Finished struct {
	// Text is the whole answer, IDs its tokens: without the end token and what
	// follows it, cut at a stop text and at MaxTokens. Text leaves out special
	// tokens, and is empty without a tokenizer. At a stop text IDs is the
	// shortest run of tokens with which all of Text had been decoded. Both are
	// what the Committed events held, joined.
	Text   string
	IDs    []int32
	Reason FinishReason
	// Guard says what a guard saw when Reason is FinishGuard.
	Guard    string
	Warnings []string
	Canvases []CanvasReport
	Usage    Usage
	Timing   Timing
}

func (*Started) event()   {}
func (*Prefilled) event() {}
func (*Draft) event()     {}
func (*Committed) event() {}
func (*Finished) event()  {}

// A FinishReason says why an answer ended.
type FinishReason string

const (
	// FinishStop: an end token or a stop text.
	FinishStop FinishReason = "stop"
	// FinishLength: MaxTokens or the context limit.
	FinishLength FinishReason = "length"
	// FinishGuard: a guard rejected a canvas twice. The text is kept.
	FinishGuard FinishReason = "guard"
	// FinishCancelled: the context ended. The committed text is kept.
	FinishCancelled FinishReason = "cancelled"
)

// A CanvasStop says why denoising of a canvas stopped.
type CanvasStop string

const (
	// StopConverged: stable and confident.
	StopConverged CanvasStop = "converged"
	// StopCap: the step cap was reached.
	StopCap CanvasStop = "cap"
	// StopPinned: every position was given; no step was needed.
	StopPinned CanvasStop = "pinned"
	// StopGuard: a guard rejected the canvas.
	StopGuard CanvasStop = "guard"
	// StopCancelled: the context ended between two steps.
	StopCancelled CanvasStop = "cancelled"
)

// A CanvasReport says what happened to one canvas. A redrawn canvas has two
// reports with the same Index.
type CanvasReport struct {
	Index  int        `json:"index"`
	Length int        `json:"length"`
	Steps  int        `json:"steps"`
	Stop   CanvasStop `json:"stop"`
	// Accepted is the number of positions accepted in the last step.
	Accepted int `json:"accepted"`
	// Entropy is the mean entropy of the last step in nats.
	Entropy float32 `json:"entropy"`
	// Kept counts the tokens of the canvas that are part of the answer.
	Kept int `json:"kept"`
	// End is true when the canvas held an end token.
	End bool `json:"end"`
	// Guard says what a guard saw, "" when nothing.
	Guard  string `json:"guard,omitempty"`
	Redraw bool   `json:"redraw"`
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	// ComputedTokens counts the positions that were decoded, kept or not: of
	// every canvas, redrawn ones included, or the tokens drawn one by one.
	ComputedTokens int `json:"computed_tokens"`
	// Forwards counts the decoder passes in diffusion mode and the one-token
	// passes in autoregressive mode.
	Forwards int `json:"forwards"`
}

// Timing says where the time went: into the backend's steps over the prompt,
// and into all others.
type Timing struct {
	Prefill time.Duration
	Decode  time.Duration
}
