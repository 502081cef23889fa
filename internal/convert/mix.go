package convert

import (
	"fmt"
	"strings"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/quant"
)

// mixType is the type of Synthesize that is no plan of Quantize, because its blocks
// have no encoder here; mixFile is its general.file_type.
const (
	mixType = "q4_k_m"
	mixFile = 15
)

// mixFormats are the formats of the published Q4_K_M file, which follow llama.cpp's
// rules: Q4_K, but Q6_K for the table, and for values and down projections where
// moreBits says so; Q5_0 and Q8_0 in their places where rows are not whole blocks
// of 256; F32 for vectors and routers. On the shapes of the 26B model they are
// Q4_K 194, Q5_0 33, Q6_K 14, Q8_0 28 and F32 423.
func mixFormats(tensors []model.ExportTensor) ([]quant.Format, error) {
	var layers, values, value int
	for _, t := range tensors {
		switch {
		case strings.HasSuffix(t.Name, ".attn_v.weight"):
			values++
		case strings.HasSuffix(t.Name, ".attn_q.weight"):
			layers++
		}
	}
	formats := make([]quant.Format, len(tensors))
	for i, t := range tensors {
		shape := t.Tensor.Shape
		more := t.Kind == model.Table
		switch {
		case len(shape) < 2 || t.Kind == model.Router:
			formats[i] = quant.F32
			continue
		case strings.HasSuffix(t.Name, ".attn_v.weight"):
			more = moreBits(value, values)
			value++
		case strings.Contains(t.Name, ".ffn_down"):
			var layer int
			if _, err := fmt.Sscanf(t.Name, "blk.%d.", &layer); err != nil {
				return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
			}
			more = moreBits(layer, layers)
		}
		format, small := quant.Q4_K, quant.Q5_0
		if more {
			format, small = quant.Q6_K, quant.Q8_0
		}
		if shape[len(shape)-1]%format.BlockElements() != 0 {
			format = small
		}
		formats[i] = format
	}
	return formats, nil
}

// moreBits is true for the first and the last eighth of n tensors, and for every
// third of those between.
func moreBits(i, n int) bool {
	return i < n/8 || i >= 7*n/8 || (i-n/8)%3 == 2
}
