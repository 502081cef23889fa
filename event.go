package fresco

import "github.com/frescolm/fresco/internal/engine"

// The events of Generate and what they hold. What an event points to is valid
// until the next one is asked for, except in *Finished.
type (
	// An Event is a *Started, *Prefilled, *Draft, *Committed or *Finished.
	Event = engine.Event
	// Started is the first event, before any work.
	Started = engine.Started
	// Prefilled reports how much of the prompt is done.
	Prefilled = engine.Prefilled
	// Draft is the state of a canvas after one denoising step.
	Draft = engine.Draft
	// Committed is text that will not change any more.
	Committed = engine.Committed
	// Finished is the last event: the whole answer and what it took.
	Finished = engine.Finished

	// A Mode is a way to decode.
	Mode = engine.Mode
	// A FinishReason says why an answer ended.
	FinishReason = engine.FinishReason
	// A CanvasStop says why denoising of a canvas stopped.
	CanvasStop = engine.CanvasStop
	// A CanvasReport says what happened to one canvas.
	CanvasReport = engine.CanvasReport
	// Usage counts tokens and passes.
	Usage = engine.Usage
	// Timing says where the time went.
	Timing = engine.Timing

	// A RequestError names the option that cannot be honoured, in the form
	// max_tokens for MaxTokens, and says why.
	RequestError = engine.RequestError
)

const (
	// Diffusion refines canvases with the bidirectional decoder.
	Diffusion = engine.Diffusion
	// Autoregressive draws one token a pass from the causal encoder's logits.
	Autoregressive = engine.Autoregressive

	// FinishStop: an end token or a stop text.
	FinishStop = engine.FinishStop
	// FinishLength: MaxTokens or the context limit.
	FinishLength = engine.FinishLength
	// FinishGuard: a guard rejected a canvas twice. The text is kept.
	FinishGuard = engine.FinishGuard
	// FinishCancelled: the context ended. The committed text is kept.
	FinishCancelled = engine.FinishCancelled
)
