package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/chat"
	"github.com/frescolm/fresco/internal/diffusion"
	"github.com/frescolm/fresco/internal/embedded"
	"github.com/frescolm/fresco/internal/engine"
	"github.com/frescolm/fresco/internal/liveview"
	"github.com/frescolm/fresco/internal/models"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("svg: ")
	name := flag.String("model", models.Default, "embedded model")
	seed := flag.Uint64("seed", 0, "seed of the run")
	prompt := flag.String("prompt", "", "file with the prompt; the model's example when empty")
	most := flag.Int("frames", 3, "largest number of frames")
	out := flag.String("o", "", "file to write; standard output when empty")
	flag.Parse()
	if err := draw(*name, *prompt, *seed, *most, *out); err != nil {
		log.Fatal(err)
	}
}

func draw(name, promptFile string, seed uint64, most int, out string) error {
	m, ok := embedded.Find(name)
	if !ok {
		return fmt.Errorf("no embedded model %q", name)
	}
	prompt := m.Example
	if promptFile != "" {
		data, err := os.ReadFile(promptFile)
		if err != nil {
			return err
		}
		prompt = string(data)
	}
	drafts, glyphs, err := record(name, prompt, seed)
	if err != nil {
		return err
	}
	picture := paint(choose(drafts, most), glyphs)
	if out == "" {
		_, err = os.Stdout.WriteString(picture)
		return err
	}
	return os.WriteFile(out, []byte(picture), 0o644)
}

// record runs the model and keeps every draft of the first canvas. It computes
// with the reference kernels, so that every machine gives the same picture.
func record(name, prompt string, seed uint64) ([]*engine.Draft, *liveview.Glyphs, error) {
	m, err := models.Open(name, models.Options{Arithmetic: "exact", KernelClass: "generic"})
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	config := m.Backend.Config()
	g := config.Generation
	request := engine.Request{
		Prompt: chat.Encode(m.Tokenizer, m.Form.Prompt(prompt)), Mode: engine.Diffusion, Seed: seed,
		Sampler: diffusion.Settings{
			Steps: g.MaxDenoisingSteps, TMin: g.TMin, TMax: g.TMax, EntropyBound: g.EntropyBound,
			Stability: g.StabilityThreshold, Confidence: g.ConfidenceThreshold,
		},
		Canvas: config.CanvasLength, Candidates: canvas.Candidates{Temperature: 1},
		End: config.Tokens.End, Pad: config.Tokens.Pad, Drafts: true,
		Guards: engine.Guards{On: true, Entropy: 1},
	}
	var drafts []*engine.Draft
	for event, err := range m.Engine.Generate(context.Background(), request) {
		if err != nil {
			return nil, nil, err
		}
		if d, ok := event.(*engine.Draft); ok && d.Canvas == 0 && !d.Redraw {
			drafts = append(drafts, keep(d))
		}
	}
	glyphs := &liveview.Glyphs{
		Text:    func(id int32) string { return m.Tokenizer.Decode([]int32{id}, false) },
		Special: m.Tokenizer.IsSpecial, End: config.Tokens.End, Pad: config.Tokens.Pad,
	}
	return drafts, glyphs, nil
}

// keep copies a draft, which is valid until the next event only.
func keep(d *engine.Draft) *engine.Draft {
	c := *d
	c.Best, c.Current = slices.Clone(d.Best), slices.Clone(d.Current)
	c.Accepted, c.Pinned, c.Rewritten = slices.Clone(d.Accepted), slices.Clone(d.Pinned), slices.Clone(d.Rewritten)
	c.Entropy = slices.Clone(d.Entropy)
	return &c
}

// choose picks at most n drafts: the first, the last, and evenly between.
func choose(drafts []*engine.Draft, n int) []*engine.Draft {
	if len(drafts) <= n || n < 2 {
		return drafts[:min(len(drafts), max(n, 0))]
	}
	var chosen []*engine.Draft
	for i := range n {
		chosen = append(chosen, drafts[i*(len(drafts)-1)/(n-1)])
	}
	return chosen
}
