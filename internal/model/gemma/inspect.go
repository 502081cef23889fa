package gemma

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/weights"
)

// readConfig reads config.json and generation_config.json, or the metadata of a
// GGUF file. Every error of content is a weights.RejectedError.
func readConfig(checkpoint *weights.Checkpoint) (*config, model.Generation, error) {
	if file := checkpoint.GGUF(); file != nil {
		c, g, err := readMetadata(file)
		if err != nil {
			return nil, g, reject(checkpoint, err)
		}
		return c, g, nil
	}
	data, err := checkpoint.ReadFile(weights.ConfigName)
	if err != nil {
		return nil, model.Generation{}, err
	}
	c, err := parseConfig(data)
	if err != nil {
		return nil, model.Generation{}, reject(checkpoint, err)
	}
	data, err = checkpoint.ReadFile("generation_config.json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, model.Generation{}, err
	}
	g, err := parseGeneration(data, c)
	if err != nil {
		return nil, g, reject(checkpoint, err)
	}
	return c, g, nil
}

// public is the configuration in the terms of the seam.
func (c *config) public(g model.Generation, noise canvas.Noise) *model.Config {
	p := &model.Config{
		Architecture: ModelType, VocabSize: c.vocab, HiddenSize: c.hidden, CanvasLength: c.canvas,
		MaxPositions: c.maxPositions, Window: c.window, Generation: g, Noise: noise,
		Tokens: model.SpecialTokens{BOS: c.bos, Pad: c.pad, End: c.end},
	}
	for _, l := range c.layers {
		p.Layers = append(p.Layers, model.Layer{Kind: l.kind, Heads: l.heads, KVHeads: l.kvHeads, HeadDim: l.headDim})
	}
	p.Parameters, p.ActiveParameters = c.parameters()
	return p
}

// inspect describes a checkpoint without loading it.
func inspect(checkpoint *weights.Checkpoint) (*model.Inspection, error) {
	c, g, err := readConfig(checkpoint)
	if err != nil {
		return nil, err
	}
	report := checkpoint.Compare(c.slots(), c.aside())
	var bytes int64
	for _, info := range report.Found {
		bytes += info.Bytes
	}
	number := strconv.Itoa
	return &model.Inspection{
		Config: c.public(g, canvas.Noise{Count: c.vocab}),
		Dimensions: []model.Dimension{
			{Name: "vocabulary", Value: number(c.vocab)},
			{Name: "hidden", Value: number(c.hidden)},
			{Name: "layers", Value: number(len(c.layers))},
			{Name: "dense width", Value: number(c.intermediate)},
			{Name: "experts", Value: fmt.Sprintf("%d, %d active, width %d", c.experts, c.chosen, c.expert)},
			{Name: "window", Value: number(c.window)},
			{Name: "canvas", Value: number(c.canvas)},
			{Name: "context", Value: number(c.maxPositions)},
			{Name: "soft-cap", Value: fmt.Sprint(c.softcap)},
		},
		KVBytesPerToken:      c.kvBytesPerToken(model.Full, kernel.BF16),
		SlidingBytesPerToken: c.kvBytesPerToken(model.Sliding, kernel.BF16),
		Tensors:              report,
		Plan: func(r model.MemoryRequest, o model.LoadOptions) model.MemoryPlan {
			round, _, err := resolveArithmetic(o.Arithmetic)
			if err != nil {
				round = kernel.F32
			}
			return c.memoryPlan(r, bytes, round, kernel.Workers(o.Threads))
		},
	}, nil
}
