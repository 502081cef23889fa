package fresco

import "github.com/frescolm/fresco/internal/engine"

// The events of Generate and what they hold. What an event points to is valid
// until the next one is asked for, except in *Finished.
type (
	// An Event is a *Started, *Prefilled, *Draft, *Committed or *Finished.
	Event = engine.Event

	// Started is the first event, before any work.
	//
	//	type Started struct {
	//		PromptTokens int
	//		Seed         uint64 // the one given, or drawn
	//		Mode         Mode
	//	}
	Started = engine.Started

	// Prefilled reports how much of the prompt is done, in tokens.
	//
	//	type Prefilled struct{ Done, Total int }
	Prefilled = engine.Prefilled

	// Draft is the state of a canvas after one denoising step. Its slices have
	// one entry for each position of the canvas.
	//
	//	type Draft struct {
	//		Canvas      int     // from 0
	//		Step, Steps int     // from 1; Steps is the step cap
	//		Redraw      bool    // the second attempt at a canvas that a guard rejected
	//		Temperature float32 // of the step
	//		MeanEntropy float32 // over free positions, in nats
	//
	//		Best          []int32   // argmax canvas: the current best guess
	//		Current       []int32   // the canvas as the next step will see it
	//		Accepted      []bool    // accepted in this step; the others were renoised
	//		Pinned        []bool    // given by Infill
	//		Rewritten     []bool    // whose best guess changed in this step
	//		Entropy       []float32 // in nats, 0 where pinned
	//		AcceptedCount int       // accepted among free positions
	//	}
	Draft = engine.Draft

	// Committed is text that will not change any more: in diffusion mode a
	// canvas, in autoregressive mode a token. Both fields may be empty while a
	// possible stop text is held back, and Text inside a character; what was held
	// back comes with a later one, at the latest before Finished.
	//
	//	type Committed struct {
	//		IDs  []int32 // new tokens of the answer
	//		Text string
	//	}
	Committed = engine.Committed

	// Finished is the last event: the whole answer and what it took.
	//
	//	type Finished struct {
	//		Text     string  // without special tokens; "" without a tokenizer
	//		IDs      []int32 // without the end token and what follows it
	//		Reason   FinishReason
	//		Guard    string   // what a guard saw when Reason is FinishGuard
	//		Warnings []string // one for each canvas that was drawn again
	//		Canvases []CanvasReport
	//		Usage    Usage
	//		Timing   Timing
	//	}
	//
	// Text and IDs are what the Committed events held, joined, and cut at
	// MaxTokens and at a stop text.
	Finished = engine.Finished

	// A CanvasReport says what happened to one canvas. One that was drawn again
	// has two reports with the same Index.
	//
	//	type CanvasReport struct {
	//		Index    int // from 0
	//		Length   int // positions
	//		Steps    int // denoising steps that were run
	//		Stop     CanvasStop
	//		Accepted int     // positions accepted in the last step
	//		Entropy  float32 // mean of the last step, in nats
	//		Kept     int     // tokens that are part of the answer
	//		End      bool    // whether it held an end token
	//		Guard    string  // what a guard saw, "" for nothing
	//		Redraw   bool    // the second attempt
	//	}
	CanvasReport = engine.CanvasReport

	// Usage counts tokens and passes.
	//
	//	type Usage struct {
	//		PromptTokens     int
	//		CompletionTokens int // of the answer
	//		ComputedTokens   int // positions of all canvases, or tokens drawn one by one
	//		Forwards         int // decoder passes, or one-token passes
	//	}
	Usage = engine.Usage

	// Timing says where the time went: into the prompt, and into all the rest.
	//
	//	type Timing struct{ Prefill, Decode time.Duration }
	Timing = engine.Timing

	// A Mode is a way to decode, a string: Diffusion or Autoregressive.
	Mode = engine.Mode
	// A FinishReason says why an answer ended, a string: FinishStop,
	// FinishLength, FinishGuard or FinishCancelled.
	FinishReason = engine.FinishReason
	// A CanvasStop says why denoising of a canvas stopped, a string:
	// StopConverged, StopCap, StopPinned, StopGuard or StopCancelled.
	CanvasStop = engine.CanvasStop

	// A RequestError names the option that cannot be honoured, in the form
	// max_tokens for MaxTokens, and says why.
	//
	//	type RequestError struct{ Field, Reason string }
	RequestError = engine.RequestError
)

const (
	// Diffusion, "diffusion", refines canvases with the bidirectional decoder.
	Diffusion = engine.Diffusion
	// Autoregressive, "ar", draws one token a pass from the causal encoder's
	// logits.
	Autoregressive = engine.Autoregressive

	// FinishStop, "stop": an end token or a stop text.
	FinishStop = engine.FinishStop
	// FinishLength, "length": MaxTokens or the context limit.
	FinishLength = engine.FinishLength
	// FinishGuard, "guard": a guard rejected a canvas twice. The text is kept.
	FinishGuard = engine.FinishGuard
	// FinishCancelled, "cancelled": the context ended. The committed text is kept.
	FinishCancelled = engine.FinishCancelled

	// StopConverged, "converged": stable and confident.
	StopConverged = engine.StopConverged
	// StopCap, "cap": the step cap was reached.
	StopCap = engine.StopCap
	// StopPinned, "pinned": every position was given; no step was needed.
	StopPinned = engine.StopPinned
	// StopGuard, "guard": a guard rejected the canvas.
	StopGuard = engine.StopGuard
	// StopCancelled, "cancelled": the context ended between two steps.
	StopCancelled = engine.StopCancelled
)
