package model

import "github.com/frescolm/fresco/internal/canvas"

// Config says what a model is, in terms that hold for every architecture.
// Dimensions are those of docs/model.md §1.
type Config struct {
	// Architecture is the model_type of config.json, for example
	// "diffusion_gemma".
	Architecture string
	VocabSize    int
	HiddenSize   int
	// CanvasLength is the canvas that the checkpoint was trained with; 0 for
	// plain autoregressive checkpoints.
	CanvasLength int
	// MaxPositions is the context limit in tokens.
	MaxPositions int
	// Window is the sliding window in tokens, the token itself included.
	Window int
	Layers []Layer
	Tokens SpecialTokens
	// Generation holds the checkpoint's own defaults.
	Generation Generation
	// Noise lists the ids that have a token.
	Noise canvas.Noise
	// Parameters counts all parameters of the text model, ActiveParameters those
	// that one token passes through (without embedding and head).
	Parameters, ActiveParameters int64
}

// A LayerKind says what a layer's attention sees.
type LayerKind uint8

const (
	// Sliding layers see the last Window tokens.
	Sliding LayerKind = iota
	// Full layers see everything.
	Full
)

func (k LayerKind) String() string {
	if k == Full {
		return "full"
	}
	return "sliding"
}

// A Layer gives the attention shape of one layer.
type Layer struct {
	Kind    LayerKind
	Heads   int
	KVHeads int
	HeadDim int
}

// SpecialTokens are the ids with a meaning. An absent id is -1.
type SpecialTokens struct {
	BOS, Pad int32
	// End lists the ids that end an answer, in the order of the file.
	End []int32
}

// Generation holds the defaults of generation_config.json, with the official
// fallbacks where the file is silent (docs/model.md §1.4).
type Generation struct {
	MaxNewTokens        int
	MaxDenoisingSteps   int
	TMin, TMax          float64
	EntropyBound        float32
	StabilityThreshold  int
	ConfidenceThreshold float32
	// Ignored names the keys of the file that have no meaning here.
	Ignored []string
}
