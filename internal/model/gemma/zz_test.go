package gemma

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

func TestZZ(t *testing.T) {
	g := openGolden(t)
	for _, name := range []string{"tiny-bf16/encode_p25", "tiny-bf16/decode_noprompt", "tiny-bf16/encode_p79"} {
		c := g.byName[name]
		b := g.backend(t, c.Checkpoint, "bf16")
		enc := c.Kind == "encode"
		var ids []int32
		scal := b.weights.decoderScalar
		if enc {
			ids = list(t, c.Inputs.IDs)
			scal = b.weights.encoderScalar
		} else {
			ids = list(t, c.Inputs.Canvas)
		}
		rows := len(ids)
		n := b.config.hidden
		hidden := slices.Collect(slices.Chunk(g.floats(t, c, "hidden"), rows*n))
		rid := slices.Collect(slices.Chunk(g.ints(t, c, "router_ids"), rows*b.config.chosen))
		for i := range b.config.layers {
			var k, v []float32
			p := g.lonePass(b, rows, scal, func(kind model.LayerKind, r int) kernel.Span {
				if !enc {
					return kernel.Span{Lo: 0, Hi: rows}
				}
				if kind == model.Full {
					return kernel.Span{Lo: 0, Hi: r + 1}
				}
				return kernel.Span{Lo: b.config.seenFrom(r), Hi: r + 1}
			}, &k, &v)
			b.forward.setRotations(p, nil)
			var o [][]int32
			b.forward.probe = &probe{router: func(_ int, ids []int32, _ []float32, _ int) { o = append(o, slices.Clone(ids)) }}
			got := b.forward.layer(p, i, slices.Clone(hidden[i]), nil)
			b.forward.probe = nil
			s := ""
			for r := range rows {
				bad := 0
				for j := range n {
					w := hidden[i+1][r*n+j]
					if math.Abs(float64(got[r*n+j])-float64(w)) > bf16Ulp(w)*1.0001 {
						bad++
					}
				}
				same := "="
				if !slices.Equal(o[0][r*2:r*2+2], rid[i][r*2:r*2+2]) {
					same = "R"
				}
				s += fmt.Sprintf("%d%s ", bad, same)
			}
			t.Logf("%s layer %d: %s", name, i, s)
		}
	}
}
