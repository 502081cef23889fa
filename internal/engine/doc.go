// Package engine turns a request into canvases and canvases into events.
//
//	Request ──▶ prefill ──▶ canvas ─▶ denoising steps ─▶ finish ─▶ commit ─┐ ──▶ Finished
//	                          ▲                                            │
//	                          └────────────────────────────────────────────┘
//
// Generate runs one request from its prompt to its end and yields an ordered
// stream of events: Started, Prefilled for every chunk of the prompt, then for
// every canvas any number of Drafts and one Committed (in autoregressive mode one
// Committed for every token), and last Finished, exactly once. It owns the
// sequence and the canvas of the request and releases both in every case.
//
// The engine decides nothing about the algorithm of denoising (that is
// internal/diffusion, a pure state machine) and computes nothing on tensors
// (that is a model.Backend). What it owns is the order of things: prompt chunks,
// hand-over from canvas to canvas, stop texts, limits, cancellation between
// steps, and the guards that detect answers which must not pass for a success.
//
//	request.go      what can be asked; check.go what is refused
//	event.go        what comes out
//	engine.go       Generate
//	run.go          one request: prefill, steps, cancellation, the end
//	diffuse.go      canvas after canvas; draft.go their Draft events
//	autoregress.go  token after token
//	answer.go       the text so far, stop texts, MaxTokens
//	guards.go       what makes a canvas unacceptable
//
// A canvas that a guard rejects is drawn once more, with the lowest bit of its
// address's attempt set; other canvases keep their draws. Rejected again, the
// answer ends with FinishGuard and keeps its text.
//
// It serves one request at a time. A batch engine takes the place of Generate's
// loop: it drives many requests' state machines through common Steps.
package engine
