// Package engine turns a request into canvases and canvases into events.
//
//	Request ──▶ prefill ──▶ canvas ─▶ denoising steps ─▶ finish ─▶ commit ─┐ ──▶ Finished
//	                          ▲                                            │
//	                          └────────────────────────────────────────────┘
//
// Generate runs one request from its prompt to its end and yields an ordered
// stream of events: Started, Prefilled, then for every canvas any number of
// Drafts and one Committed, and last Finished, exactly once. It owns the
// sequence and the canvas of the request and releases both in every case.
//
// The engine decides nothing about the algorithm of denoising (that is
// internal/diffusion, a pure state machine) and computes nothing on tensors
// (that is a model.Backend). What it owns is the order of things: prompt chunks,
// hand-over from canvas to canvas, stop texts, limits, cancellation between
// steps, and the guards that detect answers which must not pass for a success.
//
// It serves one request at a time. A batch engine takes the place of Generate's
// loop: it drives many requests' state machines through common Steps.
package engine
