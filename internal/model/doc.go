// Package model is the seam between the engine and compute: what a backend
// that runs a block-diffusion language model offers (Backend), at the height of
// one model call, not of a tensor operation.
//
// # Contract of a backend
//
//  1. Step runs every item, together or one after another: the results are
//     bit-equal. An item's result depends on its own sequence and input alone.
//  2. Prefill in any chunks, commits, and one-token passes give bit-equal K/V
//     and logits: new K/V are rounded to the cache's type before they are
//     attended to in the same pass.
//  3. An Encode extends the committed cache of its sequence; a Denoise reads it
//     and never writes it. Two items of one Step never name the same sequence
//     unless all of them are Denoise items of different canvases.
//  4. The last committed row of a sequence stays answerable (Row{Index:
//     LastCommitted}) until the next Encode, Truncate or Release.
//  5. A Denoise keeps the processed logits inside the canvas state. The soft
//     embedding of self-conditioning is formed from them at the start of the
//     next Denoise of that canvas, so a canvas that has stopped never pays for
//     it. Logits with NaN or infinity are not kept: the canvas is then as after
//     Reset.
//  6. NaN and infinity in hidden states or logits are found and reported per
//     item (Result.NonFinite, canvas.Stats.NonFinite), never as an error of the
//     whole step. The sequence of an Encode that reported it is Truncated to
//     where it was before.
//  7. A context that ends is noticed at the latest between two layers; the step
//     then returns its error, and every sequence and canvas is as before the
//     step. The same holds for every other error: bad items are refused before
//     any of them runs.
//
// internal/model/conformance checks these against any backend; internal/model/fake
// is a scripted one, with which everything above this floor is tested without a
// model. internal/model/gemma is the CPU backend.
package model
