package fresco

// Options are what a call of Generate asks for. The zero value of every field is
// the checkpoint's own default, so Options{Prompt: "…"} is a whole request.
type Options struct {
	// Prompt is the text to answer. It is put into the checkpoint's prompt form
	// unless Raw is set. Empty, it is refused unless IDs or Raw is set.
	Prompt string
	// IDs takes the place of Prompt: token ids exactly as they are, with nothing
	// added. It implies Raw.
	IDs []int32
	// Raw uses no prompt form: the tokens of Prompt, after the beginning-of-text
	// token where the tokenizer's post-processor adds one.
	Raw bool
	// Infill is the text that the first canvas starts from; its tokens stay. A
	// hole is ⟦n⟧, n positions that the model fills, or ⟦⟧, one; a doubled
	// bracket stands for itself. Diffusion mode only.
	Infill string

	// Mode is Diffusion or Autoregressive; "" is Diffusion where the checkpoint
	// can denoise.
	Mode Mode
	// Seed addresses all draws; nil draws a fresh one below 2⁵³ from the operating
	// system's generator, which Started reports.
	Seed *uint64
	// Attempt is the answer attempt, 0 … 127: another attempt of the same seed
	// is another answer.
	Attempt int

	// MaxTokens ends the answer after exactly this many tokens; 0 means at an
	// end token or the context limit. The checkpoint's max_new_tokens plays no
	// part.
	MaxTokens int
	// Stop holds texts that end the answer before them, wherever canvas borders
	// fall. Needs a tokenizer.
	Stop []string

	// Canvas is the canvas length in positions, at most the checkpoint's.
	Canvas int
	// Steps is max_denoising_steps: the step cap and the length of the
	// temperature schedule.
	Steps int
	// MaxSteps stops a canvas earlier without stretching the schedule.
	MaxSteps int
	// TMin and TMax bound the temperature schedule; Off in either uses the
	// logits as they are.
	TMin, TMax Setting
	// EntropyBound is the acceptance bound in nats, > 0. It has no Off.
	EntropyBound Setting
	// Stability is the number of earlier best guesses that the current one must
	// equal, Confidence the mean entropy in nats below which a canvas is
	// confident. Off in either switches the early stop off.
	Stability, Confidence Setting

	// Temperature divides the logits of Autoregressive; its default, 0, takes
	// the most likely token. In Diffusion only 0 can be asked for: candidates
	// are then the argmax instead of a sample.
	Temperature Setting
	// TopK and TopP filter the draw of Autoregressive; 0 keeps everything.
	TopK int
	TopP float64

	// PrefillChunk is the largest number of prompt tokens in one pass; 0 means
	// all at once. It changes memory and time, not the answer.
	PrefillChunk int
	// Drafts asks for a Draft after every denoising step.
	Drafts bool

	// NoGuards switches the guards off, which detect answers that must not pass
	// for a success: NaN or infinity, canvases that are empty or padding, canvases
	// that end at their step cap undecided.
	NoGuards bool
	// GuardEntropy is the mean entropy in nats above which a canvas that reached
	// its step cap counts as undecided. Its default is 1, or Off when Steps or
	// MaxSteps lower the checkpoint's cap. Diffusion mode only.
	GuardEntropy Setting
}
