package gemma

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/weights"
)

// export tells a checkpoint in the terms of a GGUF file (model.md §9).
func export(checkpoint *weights.Checkpoint) (*model.Export, error) {
	c, g, err := readConfig(checkpoint)
	if err != nil {
		return nil, err
	}
	metadata, err := c.metadata(g)
	if err != nil {
		return nil, reject(checkpoint, err)
	}
	slots := c.slots()
	binding, err := checkpoint.Bind(slots, c.aside())
	if err != nil {
		return nil, err
	}
	e := &model.Export{Metadata: metadata, Report: binding.Report}
	for _, slot := range slots {
		t := binding.Tensor(slot.Name)
		if slot.Name == ropeFreqs {
			b := &binder{binding: binding}
			divisors := b.stored(ropeFreqs)
			if b.err == nil {
				b.err = c.checkRopeFreqs(divisors)
			}
			if b.err != nil {
				return nil, reject(checkpoint, b.err)
			}
			e.Tensors = append(e.Tensors, model.ExportTensor{Name: ropeFreqs, Kind: model.Rotary, Tensor: t})
			continue
		}
		e.Tensors = append(e.Tensors, model.ExportTensor{Name: ggufName(slot.Name), Official: slot.Name, Kind: kindOf(slot.Name), Tensor: t})
	}
	if !c.gguf {
		e.Tensors = append(e.Tensors, model.ExportTensor{Name: ropeFreqs, Kind: model.Rotary, Tensor: c.ropeDivisors(), Derived: true})
	}
	return e, nil
}

// blueprint tells the checkpoint of a configuration.
func blueprint(configuration, generation []byte) (*model.Export, error) {
	c, err := parseConfig(configuration)
	if err != nil {
		return nil, err
	}
	g, err := parseGeneration(generation, c)
	if err != nil {
		return nil, err
	}
	e := &model.Export{}
	if e.Metadata, err = c.metadata(g); err != nil {
		return nil, err
	}
	for _, slot := range c.slots() {
		t := quant.Tensor{Shape: slot.Shape}
		e.Tensors = append(e.Tensors, model.ExportTensor{Name: ggufName(slot.Name), Official: slot.Name, Kind: kindOf(slot.Name), Tensor: t})
	}
	e.Tensors = append(e.Tensors, model.ExportTensor{Name: ropeFreqs, Kind: model.Rotary, Tensor: c.ropeDivisors(), Derived: true})
	return e, nil
}

// ropeDivisors is the tensor that checkRopeFreqs expects.
func (c *config) ropeDivisors() quant.Tensor {
	half := c.layers[len(c.layers)-1].headDim / 2 // of the full layers, of which the last is one
	rotating := int(c.full.partial * float64(half))
	data := make([]byte, 4*half)
	for i := range half {
		divisor := float32(1)
		if i >= rotating {
			divisor = 1e30
		}
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(divisor))
	}
	return quant.Tensor{Format: quant.F32, Shape: []int{half}, Data: data}
}

// kindOf says what part of the model a tensor belongs to, by its official name.
func kindOf(official string) model.Kind {
	name := strings.TrimPrefix(strings.TrimPrefix(official, encoderPrefix), decoderPrefix)
	if rest, inLayer := strings.CutPrefix(name, "layers."); inLayer {
		_, name, _ = strings.Cut(rest, ".")
	}
	switch {
	case name == headName:
		return model.Head
	case name == "embed_tokens.weight":
		return model.Table
	case name == "layer_scalar":
		return model.Scalar
	case strings.HasPrefix(name, "self_conditioning."):
		return model.SelfConditioning
	case strings.HasPrefix(name, "router."):
		return model.Router
	case strings.HasPrefix(name, "experts."):
		return model.Experts
	case strings.HasPrefix(name, "mlp."):
		return model.Dense
	case strings.HasPrefix(name, "self_attn.") && strings.HasSuffix(name, "_proj.weight"):
		return model.Attention
	}
	return model.Norm
}
