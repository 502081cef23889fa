package gemma

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/model/conformance"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/safetensors"
)

// ggufFixtures lists the GGUF models of the fixtures.
func ggufFixtures(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtures.Dir(t, "formats/gguf"), "*.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	return paths
}

// mixed is the path of the repository's own GGUF model, which has most block
// formats and split experts.
var mixed = filepath.Join(fixtures.Root(), "testdata", "fixtures", "formats", "gguf", "tiny-mixed.gguf")

// TestGGUFEqualsFolder asks the same bits of a GGUF file and of a folder with its
// dequantised weights, in both arithmetics.
func TestGGUFEqualsFolder(t *testing.T) {
	for _, path := range ggufFixtures(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := writeAsFolder(t, path)
			want := readExpected(t, strings.TrimSuffix(path, ".gguf")+expectedSuffix)
			for _, class := range kernel.Classes() {
				if !class.Available {
					continue
				}
				for _, arithmetic := range []string{"exact", "bf16"} {
					var logits [2][]float32
					for i, from := range []string{path, dir} {
						b := openBackend(t, from, model.LoadOptions{Arithmetic: arithmetic, KernelClass: class.Name, Threads: 1 + i})
						s := b.NewSequence()
						prefill(t, b, s, want.ids)
						logits[i] = append(denoiseCanvas(t, b, s, want.canvas1, nil).logits, denoiseCanvas(t, b, s, want.canvas2, want.self).logits...)
						s.Release()
						b.Close()
					}
					if !slices.Equal(logits[0], logits[1]) {
						t.Errorf("%s, %s: the logits differ", class.Name, arithmetic)
					}
				}
			}
		})
	}
}

// writeAsFolder writes the float32 values of a GGUF file in the folder layout.
func writeAsFolder(t *testing.T, path string) string {
	t.Helper()
	checkpoint, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer checkpoint.Close()
	c, _, err := readConfig(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	binding, err := checkpoint.Bind(c.slots(), nil)
	if err != nil {
		t.Fatal(err)
	}
	values := func(name string) []byte {
		x := binding.Tensor(name)
		v := make([]float32, x.Elements())
		if err := quant.Decode(x.Format, v, x.Data); err != nil {
			t.Fatal(err)
		}
		var data []byte
		for _, f := range v {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
		}
		return data
	}
	folder := *c
	folder.gguf = false
	folder.layers = slices.Clone(c.layers)
	for i := range folder.layers {
		folder.layers[i].splitExperts = false
	}
	tensors := map[string]safetensors.Tensor{}
	for _, s := range folder.slots() {
		x := safetensors.Tensor{DType: safetensors.F32, Shape: s.Shape}
		if stem, ok := strings.CutSuffix(s.Name, "gate_up_proj"); ok && binding.Tensor(s.Name).Data == nil {
			gate, up := values(stem+"gate_proj"), values(stem+"up_proj")
			each := 4 * c.expert * c.hidden
			for e := range c.experts {
				x.Data = append(append(x.Data, gate[e*each:(e+1)*each]...), up[e*each:(e+1)*each]...)
			}
		} else {
			x.Data = values(s.Name)
		}
		tensors[s.Name] = x
	}
	dir := t.TempDir()
	if err := safetensors.WriteFile(filepath.Join(dir, "model.safetensors"), tensors, nil); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	perLayer := map[string]map[string]int{}
	for i, l := range c.layers {
		kinds = append(kinds, map[model.LayerKind]string{model.Sliding: "sliding_attention", model.Full: "full_attention"}[l.kind])
		perLayer[fmt.Sprint(i)] = map[string]int{"head_dim": l.headDim, "num_key_value_heads": l.kvHeads, "num_attention_heads": l.heads}
	}
	config, err := json.Marshal(map[string]any{
		"model_type": ModelType, "canvas_length": c.canvas,
		"text_config": map[string]any{
			"vocab_size": c.vocab, "hidden_size": c.hidden, "num_hidden_layers": len(c.layers), "layer_types": kinds,
			"num_attention_heads": c.layers[0].heads, "num_key_value_heads": c.layers[0].kvHeads, "head_dim": c.layers[0].headDim,
			"per_layer_config": perLayer, "sliding_window": c.window, "intermediate_size": c.intermediate,
			"num_experts": c.experts, "top_k_experts": c.chosen, "moe_intermediate_size": c.expert,
			"max_position_embeddings": c.maxPositions,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, weights.ConfigName), config, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestConformanceGGUF runs the seam's suite on weights in blocks.
func TestConformanceGGUF(t *testing.T) {
	for _, class := range kernel.Classes() {
		if !class.Available {
			t.Logf("kernel class %s: %s", class.Name, class.Reason)
			continue
		}
		for _, arithmetic := range []string{"exact", "bf16"} {
			t.Run(class.Name+"/"+arithmetic, func(t *testing.T) {
				open := func(t *testing.T, threads int) model.Backend {
					return openBackend(t, mixed, model.LoadOptions{KernelClass: class.Name, Arithmetic: arithmetic, Threads: threads})
				}
				conformance.Run(t, func(t *testing.T) model.Backend { return open(t, 2) })
				conformance.Same(t, open(t, 1), open(t, 2), open(t, 7))
			})
		}
	}
}

// A changedGGUF is a copy of a fixture with something changed.
type changedGGUF struct {
	metadata []gguf.KeyValue
	tensors  []gguf.Tensor
}

func (f *changedGGUF) set(key string, value any) {
	i := slices.IndexFunc(f.metadata, func(kv gguf.KeyValue) bool { return kv.Key == key })
	switch {
	case i < 0:
		f.metadata = append(f.metadata, gguf.KeyValue{Key: key, Value: value})
	case value == nil:
		f.metadata = slices.Delete(f.metadata, i, i+1)
	default:
		f.metadata[i].Value = value
	}
}

func (f *changedGGUF) tensor(t *testing.T, name string) *gguf.Tensor {
	t.Helper()
	i := slices.IndexFunc(f.tensors, func(x gguf.Tensor) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no tensor %s", name)
	}
	return &f.tensors[i]
}

func (f *changedGGUF) remove(prefix string) {
	f.tensors = slices.DeleteFunc(f.tensors, func(x gguf.Tensor) bool { return strings.HasPrefix(x.Name, prefix) })
}

// add puts a float32 tensor of zeros at the end.
func (f *changedGGUF) add(name string, dims ...int) {
	n := 4
	for _, d := range dims {
		n *= d
	}
	f.tensors = append(f.tensors, gguf.Tensor{Name: name, Type: gguf.F32, Dims: dims, Data: make([]byte, n)})
}

// changeGGUF writes a changed copy of the repository's model and opens it.
func changeGGUF(t *testing.T, change func(f *changedGGUF)) *weights.Checkpoint {
	t.Helper()
	file, err := gguf.Open(mixed)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := &changedGGUF{metadata: file.Metadata(), tensors: file.Tensors()}
	change(f)
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := gguf.WriteFile(path, f.metadata, f.tensors); err != nil {
		t.Fatal(err)
	}
	c, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGGUFRefuses(t *testing.T) {
	const arch = "diffusion-gemma."
	key := func(name string, value any) func(*changedGGUF) {
		return func(f *changedGGUF) { f.set(name, value) }
	}
	for _, c := range []struct {
		name   string
		change func(*changedGGUF)
		want   string // what the error holds after the path; "" for none
	}{
		{"nothing", func(*changedGGUF) {}, ""},
		{"integers of other types", func(f *changedGGUF) {
			f.set(arch+"block_count", int64(4))
			f.set(arch+"embedding_length", uint8(64))
			f.set("diffusion.canvas_length", int32(16))
			f.set(arch+"attention.head_count", []uint16{4, 4, 4, 4})
		}, ""},
		{"no vocab_size", key(arch+"vocab_size", nil), ""},
		{"no shared layers", key(arch+"attention.shared_kv_layers", nil), ""},
		{"a count that is text", key(arch+"block_count", "4"), ": key diffusion-gemma.block_count: is of type string, not a whole number"},
		{"no count", key(arch+"expert_count", nil), ": key diffusion-gemma.expert_count: absent"},
		{"no canvas", key("diffusion.canvas_length", nil), ": key diffusion.canvas_length: absent"},
		{"a count of 0", key(arch+"feed_forward_length", uint32(0)), ": key diffusion-gemma.feed_forward_length: is 0, want 1 to 67108864"},
		{"a negative count", key(arch+"context_length", int32(-1)), ": key diffusion-gemma.context_length: is -1, want 1 to 67108864"},
		{"too many chosen", key(arch+"expert_used_count", uint32(5)), ": key diffusion-gemma.expert_used_count is 5, with 4 experts"},
		{"a short pattern", key(arch+"attention.sliding_window_pattern", []bool{true, false}), ": key diffusion-gemma.attention.sliding_window_pattern: has 2 elements for 4 layers"},
		{"a sliding last layer", key(arch+"attention.sliding_window_pattern", []bool{true, false, true, true}), "the last layer is a sliding one"},
		{"heads that do not divide", key(arch+"attention.head_count_kv", []int32{2, 3, 2, 1}), ": layer 1: 4 query heads cannot share 3 KV heads"},
		{"values of another width", key(arch+"attention.value_length", uint32(64)), ": key diffusion-gemma.attention.value_length: is 64, but diffusion-gemma.attention.key_length is 32"},
		{"part of a head rotated", key(arch+"rope.dimension_count", uint32(8)), ": key diffusion-gemma.rope.dimension_count: is 8, but"},
		{"scaled rope", key(arch+"rope.scaling.type", "yarn"), `: key diffusion-gemma.rope.scaling.type: "yarn" is not supported`},
		{"causal", key(arch+"attention.causal", true), ": key diffusion-gemma.attention.causal: is true, which is not supported"},
		{"shared layers", key(arch+"attention.shared_kv_layers", uint32(2)), ": key diffusion-gemma.attention.shared_kv_layers: is 2, which is not supported"},
		{"NaN for epsilon", key(arch+"attention.layer_norm_rms_epsilon", float32(math.NaN())), "attention.layer_norm_rms_epsilon is NaN"},
		{"no steps", key("diffusion.eb_max_steps", uint32(0)), ": sampler keys diffusion.eb_…: max_denoising_steps is 0"},
		{"an id beyond the table", key("tokenizer.ggml.eos_token_id", uint32(2048)), ": key tokenizer.ggml.eos_token_id: is 2048, want 0 to 2047"},
		{"no self-conditioning", func(f *changedGGUF) { f.remove("self_cond_") }, ": 4 tensors are missing:\n  missing model.decoder.self_conditioning.pre_norm.weight (self_cond_pre_norm.weight in a GGUF file)"},
		{"one scalar missing", func(f *changedGGUF) { f.remove("blk.2.enc_layer_output_scale") }, ": 1 tensor is missing:\n  missing model.encoder.language_model.layers.2.layer_scalar (blk.2.enc_layer_output_scale.weight in a GGUF file)"},
		{"no frequencies", func(f *changedGGUF) { f.remove(ropeFreqs) }, ": 1 tensor is missing:\n  missing rope_freqs.weight"},
		{"all pairs rotate", func(f *changedGGUF) {
			x := f.tensor(t, ropeFreqs)
			data := slices.Clone(x.Data)
			copy(data[4*4:], data[:4])
			x.Data = data
		}, ": tensor rope_freqs.weight: element 4 is 1, want 1e+30: of the 16 pairs of a full layer's head the first 4 rotate"},
		{"a norm in blocks", func(f *changedGGUF) {
			x := f.tensor(t, "output_norm.weight")
			x.Type, x.Data = gguf.Q8_0, make([]byte, 2*34)
		}, ": 1 tensor is unusable:\n  output_norm.weight in model.gguf: type Q8_0, expected F32 or BF16 or F16"},
		{"a type without a decoder", func(f *changedGGUF) {
			x := f.tensor(t, "blk.0.attn_q.weight")
			x.Type, x.Data = gguf.Q8_1, make([]byte, 64*2*gguf.Q8_1.BlockBytes())
		}, ": 1 tensor is unusable:\n  blk.0.attn_q.weight in model.gguf: type Q8_1, expected F32 or BF16 or F16 or a block format"},
		{"a head of another shape", func(f *changedGGUF) { f.add("output.weight", 64, 2) }, ": 1 tensor is unusable:\n  output.weight in model.gguf: shape [2 64], expected [2048 64]"},
		{"a head of its own", func(f *changedGGUF) { f.add("output.weight", 64, 2048) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkpoint := changeGGUF(t, c.change)
			b, err := load(checkpoint, model.LoadOptions{Threads: 1})
			if err == nil {
				err = b.Close()
			} else if closeErr := checkpoint.Close(); closeErr != nil {
				t.Fatal(closeErr)
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && err == nil:
				t.Errorf("no error, want %q", c.want)
			case c.want != "" && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), checkpoint.Name()+": ")):
				t.Errorf("error %v\nwant %q", err, c.want)
			}
		})
	}
}

// TestC13GGUFLayout is case C13 of the list: what a file holds beside the text
// model is set aside by group and number, and the text model loads.
func TestC13GGUFLayout(t *testing.T) {
	checkpoint := changeGGUF(t, func(f *changedGGUF) {
		f.add("v.blk.0.attn_q.weight", 8, 8)
		f.add("v.blk.0.attn_k.weight", 8, 8)
		f.add("a.conv.weight", 3, 8)
	})
	seen, err := inspect(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, g := range seen.Tensors.Aside {
		got[g.Name] = g.Count
	}
	if len(got) != 2 || got["vision tower"] != 2 || got["audio tower"] != 1 {
		t.Errorf("set aside: %v", got)
	}
	if len(seen.Tensors.Surplus) > 0 || len(seen.Tensors.Missing) > 0 {
		t.Errorf("surplus %v, missing %v", seen.Tensors.Surplus, seen.Tensors.Missing)
	}
	b, err := load(checkpoint, model.LoadOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestGGUFSampler holds both ways of writing the sampler's numbers to the same
// values: 0.3 as float32 is the 0.3 of a JSON file. Keys that are not there have
// the official values.
func TestGGUFSampler(t *testing.T) {
	for _, c := range []struct {
		change func(*changedGGUF)
		want   model.Generation
	}{
		{func(*changedGGUF) {}, officialGeneration},
		{func(f *changedGGUF) {
			f.set("diffusion.eb_max_steps", uint32(12))
			f.set("diffusion.eb_t_min", float32(0.3))
			f.set("diffusion.eb_t_max", float64(0.9))
			f.set("diffusion.eb_entropy_bound", float32(0.2))
			f.set("diffusion.eb_stability_threshold", uint8(2))
			f.set("diffusion.eb_confidence_threshold", float32(0.01))
		}, model.Generation{
			MaxNewTokens: officialGeneration.MaxNewTokens, MaxDenoisingSteps: 12, TMin: 0.3, TMax: 0.9,
			EntropyBound: 0.2, StabilityThreshold: 2, ConfidenceThreshold: 0.01,
		}},
	} {
		checkpoint := changeGGUF(t, c.change)
		_, g, err := readConfig(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, g); diff != "" {
			t.Errorf("sampler (-want +got):\n%s", diff)
		}
		if err := checkpoint.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGGUFSpecialTokens: the end ids are the file's, and the official ones that it
// has no key for.
func TestGGUFSpecialTokens(t *testing.T) {
	checkpoint := changeGGUF(t, func(*changedGGUF) {})
	defer checkpoint.Close()
	c, _, err := readConfig(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := checkpoint.GGUF().Strings("tokenizer.ggml.tokens")
	if err != nil {
		t.Fatal(err)
	}
	var end []string
	for _, id := range c.end {
		end = append(end, tokens[id])
	}
	if diff := cmp.Diff([]string{"<eos>", "<turn|>", "<|tool_response>"}, end); diff != "" {
		t.Errorf("end ids (-want +got):\n%s", diff)
	}
	if tokens[c.bos] != "<bos>" || tokens[c.pad] != "<pad>" {
		t.Errorf("bos %d, pad %d", c.bos, c.pad)
	}
}
