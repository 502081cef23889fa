package gemma

import (
	"path/filepath"
	"testing"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
)

// TestMemoryPlan compares the plan with what a prefill and a denoising step leave
// allocated: no part may be planned too small, and scratch not more than half too
// large, on shapes small enough for rounding to count.
func TestMemoryPlan(t *testing.T) {
	for _, arithmetic := range []string{"exact", "bf16"} {
		t.Run(arithmetic, func(t *testing.T) {
			b := openBackend(t, filepath.Join(fixtures.Dir(t, "text"), smallCheckpoint(t)), model.LoadOptions{Arithmetic: arithmetic, Threads: 1})
			defer b.Close()
			const prompt = 300
			s := b.NewSequence().(*sequence)
			prefill(t, b, s, someIDs(b, prompt, 0))
			var cache int64
			for i := range s.layers {
				for _, p := range s.layers[i].pages {
					cache += 4*int64(len(p.k32)+len(p.v32)) + 2*int64(len(p.k16)+len(p.v16))
				}
			}
			for range 2 { // the second step has self-conditioning
				denoiseCanvas(t, b, s, someIDs(b, b.config.canvas, 0), make([]float32, b.config.canvas*b.config.vocab))
			}
			plan := b.MemoryPlan(model.MemoryRequest{Context: prompt})
			if planned := planned(plan, "KV cache, full layers") + planned(plan, "KV cache, sliding layers"); cache > planned {
				t.Errorf("the cache takes %d bytes, planned are %d", cache, planned)
			}
			scratch, want := b.scratchInUse(), planned(plan, "scratch")
			if scratch > want {
				t.Errorf("scratch takes %d bytes, planned are %d", scratch, want)
			}
			if scratch < want/2 {
				t.Errorf("scratch takes %d bytes, planned are %d: more than twice as much", scratch, want)
			}
		})
	}
}

func planned(p model.MemoryPlan, name string) int64 {
	for _, item := range p.Items {
		if item.Name == name {
			return item.Bytes
		}
	}
	return 0
}

// scratchInUse adds the capacities of all buffers up that passes reuse.
func (b *Backend) scratchInUse() int64 {
	s := &b.forward.scratch
	n := 0
	for _, f := range [][]float32{
		s.x, s.normed, s.q, s.k, s.v, s.attended, s.projected, s.gate, s.up, s.dense, s.routed, s.scores,
		s.chosenWeights, s.gathered, s.gateUp, s.expertAct, s.expertOut, s.experts,
	} {
		n += 4 * cap(f)
	}
	n += 4*cap(s.ids) + 8*(cap(s.offsets)+cap(s.order)+cap(s.place)+cap(s.positions))
	return int64(n) + b.team.ScratchInUse() + kernel.HeadBytes(b.config.canvas, b.config.vocab)
}
