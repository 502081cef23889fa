package model

import (
	"context"
	"fmt"

	"github.com/frescolm/fresco/internal/canvas"
)

// LastCommitted as a Row's Index names the last committed row of a sequence,
// whichever Encode committed it.
const LastCommitted = -1

// A Backend runs one loaded model. Its methods may be called from one goroutine
// at a time; Step is the only one that takes long.
type Backend interface {
	// Config says what the model is. It must not be changed.
	Config() *Config
	// Capabilities says what this backend can do with it.
	Capabilities() Capabilities
	// MemoryPlan says what a run of the given size needs, before it is begun.
	MemoryPlan(MemoryRequest) MemoryPlan
	// NewSequence returns a sequence with nothing committed.
	NewSequence() Sequence
	// Step runs the items and returns one result for each, in their order.
	Step(ctx context.Context, items []Item) ([]Result, error)
	// Close releases the weights. Sequences must have been released before.
	Close() error
}

// A Sequence is the committed KV cache of one sequence of tokens.
type Sequence interface {
	// Len is the number of committed tokens.
	Len() int
	// NewCanvas returns the state of a canvas of length positions that follows
	// the committed tokens of this sequence.
	NewCanvas(length int) (Canvas, error)
	// Fork returns a second sequence with the same committed tokens. Pages are
	// shared and copied when one side writes.
	Fork() (Sequence, error)
	// Truncate undoes commits until n tokens are left. It undoes the last commit
	// exactly; going back beyond what sliding layers still store is an error
	// that names the position, and changes nothing.
	Truncate(n int) error
	// Release gives the pages back. The sequence must not be used afterwards.
	Release()
}

// A Canvas is the state of one canvas under denoising: the logits that the last
// Denoise left for self-conditioning.
type Canvas interface {
	// Len is the number of positions.
	Len() int
	// Reset forgets the logits and sets the length: the next Denoise is the
	// first of a new canvas.
	Reset(length int) error
	// Release frees the state.
	Release()
	// Logits copies the processed logits of the last Denoise, as
	// self-conditioning will read them, into dst [Len × VocabSize]. For tests.
	Logits(dst []float32) error
	// SetLogits makes src [Len × VocabSize] the processed logits that the next
	// Denoise reads, rounded to the type in which they are kept. For tests.
	SetLogits(src []float32) error
}

// An Item is one sequence's part of a Step: exactly one field is set.
type Item struct {
	Encode  *Encode
	Denoise *Denoise
}

// Encode extends a sequence causally, with the encoder's layer scalars: a
// prefill chunk, the commit of a canvas, one autoregressive token.
type Encode struct {
	Sequence Sequence
	// Segments are the new tokens. Without any, only LastCommitted can be asked.
	Segments []Segment
	// Rows asks for distributions over the token that follows a row.
	Rows []Row
}

// A Segment is a run of new tokens of one kind.
type Segment struct {
	IDs []int32
}

// Tokens counts the tokens of all segments.
func (e *Encode) Tokens() int {
	n := 0
	for _, s := range e.Segments {
		n += len(s.IDs)
	}
	return n
}

// A Row asks for the distribution of the token that follows one row.
type Row struct {
	// Index counts the tokens of this Encode from 0, or is LastCommitted.
	Index    int
	Sampling canvas.Sampling
}

// Denoise runs the bidirectional decoder once over a canvas, reading the
// committed prefix.
type Denoise struct {
	Canvas Canvas
	// Sequence is the one that made Canvas. Its committed tokens are the prefix.
	Sequence Sequence
	// IDs are the canvas's tokens before the step [Canvas.Len].
	IDs []int32
	// Temperature is that of the step, > 0; it divides the adjusted logits.
	Temperature float32
	Candidates  canvas.Candidates
	// Draw is the address of the candidate draws; its Position is replaced by
	// each index in the canvas.
	Draw canvas.Address
	// Adjust changes the logits of single positions; nil, or one per position.
	Adjust []canvas.Adjustment
	// Score and Top ask for log-probabilities of every position, as in
	// canvas.Sampling.
	Score []int32
	Top   int
}

// A Result answers one item.
type Result struct {
	// Stats has one entry for each Row of an Encode, or for each position of a
	// Denoise.
	Stats []canvas.Stats
	// NonFinite says where NaN or infinity first appeared, nil when nowhere.
	NonFinite *NonFinite
}

// What a NonFinite's Layer is where there is no layer.
const (
	// InEmbedding is before the first layer.
	InEmbedding = -1
	// InLogits is after the last one.
	InLogits = -2
)

// NonFinite says where NaN or infinity appeared in hidden states or logits.
type NonFinite struct {
	// Layer is the index of the layer after which it was seen, or InEmbedding or
	// InLogits.
	Layer int
	// Position is the absolute position of the token.
	Position int
}

func (n *NonFinite) Error() string {
	where := fmt.Sprintf("after layer %d", n.Layer)
	switch n.Layer {
	case InEmbedding:
		where = "in the embedding"
	case InLogits:
		where = "in the logits"
	}
	return fmt.Sprintf("NaN or infinity %s at position %d", where, n.Position)
}

// Capabilities is what a backend can do with its model, as plain data.
type Capabilities struct {
	// Denoise is false for plain autoregressive checkpoints.
	Denoise bool
	// Arithmetic is the resolved name of the arithmetic: "exact" or "bf16".
	Arithmetic string
	// KernelClass is the class of kernels in use, for example "generic".
	KernelClass string
	// KVType is the type of the KV cache, "f32" or "bf16".
	KVType string
	// Threads is the number of compute threads.
	Threads int
}

// A MemoryRequest describes a run whose memory is asked for.
type MemoryRequest struct {
	// Context is the number of committed tokens at the end.
	Context int
	// Canvas is the canvas length; 0 means that of the checkpoint.
	Canvas int
	// PrefillChunk is the largest number of tokens in one Encode; 0 means all.
	PrefillChunk int
}

// A MemoryPlan lists what a run needs.
type MemoryPlan struct {
	Items []MemoryItem
}

// A MemoryItem is one use of memory.
type MemoryItem struct {
	Name  string
	Bytes int64
}

// Total adds the items up, in bytes.
func (p MemoryPlan) Total() int64 {
	var n int64
	for _, item := range p.Items {
		n += item.Bytes
	}
	return n
}
