package engine

import (
	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/diffusion"
)

// A Mode is a way to decode.
type Mode string

const (
	// Diffusion refines canvases with the bidirectional decoder.
	Diffusion Mode = "diffusion"
	// Autoregressive draws one token a pass from the causal encoder's logits.
	Autoregressive Mode = "ar"
)

// A Request is one answer to be generated, fully resolved: nothing in it is
// "default". Engine.Check names what is wrong with it.
type Request struct {
	// Prompt holds the token ids to be encoded first, at least one.
	Prompt []int32
	Mode   Mode
	// MaxTokens ends the answer after exactly this many tokens; 0 means at an
	// end token or the context limit.
	MaxTokens int
	// Seed, Choice and Attempt (the answer attempt, 0 … 127) address every draw.
	Seed    uint64
	Choice  int
	Attempt int

	// Sampler holds the schedule, the entropy bound and the stop rules of
	// diffusion mode.
	Sampler diffusion.Settings
	// CapLowered says that the request itself asked for fewer steps than the
	// checkpoint does, so that a canvas which is not finished at the cap is what
	// was asked for. Sampler.MaxSteps below Sampler.Steps says the same.
	CapLowered bool
	// Draws gives the starting and renoised ids; nil draws them by their
	// addresses, as every answer does that is to be reproducible by its seed. A
	// replay of recorded draws sets it.
	Draws diffusion.Draws
	// Canvas is the canvas length in positions, 1 … the checkpoint's.
	Canvas int
	// Cells says what is known about the first positions of the first canvas
	// (infill); the rest is free. At most Canvas cells.
	Cells []canvas.Cell
	// Candidates says how diffusion draws candidates.
	Candidates canvas.Candidates

	// Temperature and Filter shape the draw of autoregressive mode.
	Temperature float32
	Filter      canvas.Filter

	// Stop holds texts that end the answer before them; needs a tokenizer. The
	// answer is cut where the leftmost occurrence of any of them starts.
	Stop []string
	// End lists the token ids that end the answer; Pad follows them and is -1
	// when there is none.
	End []int32
	Pad int32

	// PrefillChunk is the largest number of prompt tokens in one pass; 0 means
	// all at once.
	PrefillChunk int
	// Drafts asks for a Draft event after every denoising step.
	Drafts bool
	Guards Guards
}

// Guards are the checks for answers that must not pass for a success. The zero
// value switches all of them off.
type Guards struct {
	// On switches the guards on: NaN or infinity in hidden states or logits, a
	// first canvas without visible text, a canvas of padding, an answer that
	// would pass for a success without a text. Off, NaN and infinity are errors.
	On bool
	// Entropy is the mean entropy in nats above which a canvas that reached its
	// step cap is rejected; 0 switches this one off.
	Entropy float32
}
