// Package constraint says which tokens a canvas may hold at which position.
//
// A canvas position is free, pinned to a token, or constrained. What turns
// something that a person writes into such positions lives here: so far infill,
// a text with holes whose literal parts are pinned and whose holes are free.
// The house grows towards one mechanism for all of them, a finite automaton
// over token ids: JSON Schema, regular expressions, choice lists and edits
// compile to it, and forward–backward over the per-position distributions gives
// the exact constrained marginals, samples and best canvas.
//
// The package sees token ids, draw addresses and statistics (internal/canvas,
// internal/rng), never a tensor, a tokenizer or a model.
package constraint
