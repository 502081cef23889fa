package weights_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/internal/weights"
	"github.com/frescolm/fresco/safetensors"
)

// expected is a small architecture: two slots with an alias each, one of two
// formats, and a vision tower to set aside.
var (
	expected = []weights.Slot{
		{Name: "model.embed.weight", Aliases: []string{"embed.weight", "old.embed.weight"}, Shape: []int{4, 2}},
		{Name: "model.layers.0.layer_scalar", Aliases: []string{"layers.0.layer_scalar"}, Shape: []int{1}, Hint: "both scalars are required"},
		{Name: "model.scale", Shape: []int{}, Formats: []quant.Format{quant.F16, quant.F32}},
	}
	setAside = []weights.Group{
		{Name: "vision tower", Prefix: []string{"model.vision_tower.", "model.embed_vision."}},
		{Name: "audio tower", Prefix: []string{"model.audio_tower."}},
	}
)

// fitting is a checkpoint that fits.
func fitting() tensors {
	return tensors{
		"model.embed.weight":          f32([]int{4, 2}),
		"model.layers.0.layer_scalar": bf16(0.5),
		"model.scale":                 f32(nil),
	}
}

func TestBind(t *testing.T) {
	content := fitting()
	content["model.vision_tower.a"] = f32([]int{3})
	content["model.embed_vision.b"] = f32([]int{2})
	content["stray"] = f32([]int{1})
	c := checkpoint(t, content)
	b, err := c.Bind(expected, setAside)
	if err != nil {
		t.Fatal(err)
	}
	for _, slot := range expected {
		got, want := b.Tensor(slot.Name), content[slot.Name]
		if got.Format.String() != string(want.DType) || fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) || !cmp.Equal(got.Data, want.Data) {
			t.Errorf("%s: %v, want %v", slot.Name, got, want)
		}
	}
	if got := b.Tensor("stray"); got.Data != nil {
		t.Errorf("a name that is no slot: %v, want the zero tensor", got)
	}
	if diff := cmp.Diff([]string{"stray"}, b.Report.Surplus); diff != "" {
		t.Errorf("surplus (-want +got):\n%s", diff)
	}
	aside := []weights.Group{{Name: "vision tower", Prefix: setAside[0].Prefix, Count: 2, Bytes: 20}}
	if diff := cmp.Diff(aside, b.Report.Aside); diff != "" {
		t.Errorf("aside (-want +got):\n%s", diff)
	}
	if setAside[0].Count != 0 {
		t.Error("the caller's groups were changed")
	}
	if diff := cmp.Diff(c.Compare(expected, setAside), b.Report); diff != "" {
		t.Errorf("Compare and Bind differ:\n%s", diff)
	}
}

func TestBindByAlias(t *testing.T) {
	for _, stored := range append([]string{expected[0].Name}, expected[0].Aliases...) {
		content := fitting()
		embed := content[expected[0].Name]
		delete(content, expected[0].Name)
		content[stored] = embed
		b, err := checkpoint(t, content).Bind(expected, nil)
		if err != nil {
			t.Errorf("stored as %s: %v", stored, err)
			continue
		}
		if got := b.Tensor(expected[0].Name); !cmp.Equal(got.Data, embed.Data) {
			t.Errorf("stored as %s: other data", stored)
		}
		if len(b.Report.Surplus) > 0 {
			t.Errorf("stored as %s: surplus %v", stored, b.Report.Surplus)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		name   string
		change func(tensors)
		want   string // the text after the folder's name; "" when it fits
	}{
		{"nothing", func(tensors) {}, ""},
		{"missing with a hint", func(m tensors) { delete(m, "model.layers.0.layer_scalar") },
			"1 tensor is missing:\n  missing model.layers.0.layer_scalar (both scalars are required)"},
		{"misspelt", func(m tensors) {
			m["model.layers.0.layer_scaler"] = m["model.layers.0.layer_scalar"]
			delete(m, "model.layers.0.layer_scalar")
		}, "1 tensor is missing:\n  missing model.layers.0.layer_scalar (both scalars are required); nearest: model.layers.0.layer_scaler"},
		{"twice", func(m tensors) { m["old.embed.weight"] = f32([]int{4, 2}) },
			"1 tensor is unusable:\n  model.embed.weight in model.safetensors: stored again as old.embed.weight: only one of the two names may be there"},
		{"shape", func(m tensors) { m["model.embed.weight"] = f32([]int{2, 4}) },
			"1 tensor is unusable:\n  model.embed.weight in model.safetensors: shape [2 4], expected [4 2]"},
		{"scalar for a vector", func(m tensors) { m["model.layers.0.layer_scalar"] = f32(nil) },
			"1 tensor is unusable:\n  model.layers.0.layer_scalar in model.safetensors: shape [], expected [1]"},
		{"type", func(m tensors) {
			m["model.layers.0.layer_scalar"] = safetensors.Tensor{DType: safetensors.I32, Shape: []int{1}, Data: make([]byte, 4)}
		}, "1 tensor is unusable:\n  model.layers.0.layer_scalar in model.safetensors: type I32, expected F32 or BF16 or F16"},
		{"type among the slot's own", func(m tensors) {
			m["model.scale"] = safetensors.Tensor{DType: safetensors.F16, Shape: []int{}, Data: make([]byte, 2)}
		}, ""},
		{"shape and type", func(m tensors) {
			m["model.scale"] = safetensors.Tensor{DType: safetensors.BF16, Shape: []int{2}, Data: make([]byte, 4)}
		}, "1 tensor is unusable:\n  model.scale in model.safetensors: shape [2], expected []; type BF16, expected F16 or F32"},
		{"NaN", func(m tensors) { m["model.layers.0.layer_scalar"] = bf16(nan) },
			"1 tensor is unusable:\n  model.layers.0.layer_scalar in model.safetensors: element 0 of 1 is NaN"},
		{"infinite scalar", func(m tensors) { m["model.scale"] = f32(nil, inf) },
			"1 tensor is unusable:\n  model.scale in model.safetensors: element 0 of 1 is -Inf"},
		{"NaN in a matrix is not looked for", func(m tensors) { m["model.embed.weight"] = f32([]int{4, 2}, 1, nan, 3, 4, 5, 6, 7, 8) }, ""},
		{"all at once", func(m tensors) {
			delete(m, "model.embed.weight")
			m["model.scale"] = f32([]int{3})
			m["model.layers.0.layer_scalar"] = bf16(nan)
		}, "1 tensor is missing, 2 tensors are unusable:\n  missing model.embed.weight\n" +
			"  model.scale in model.safetensors: shape [3], expected []\n" +
			"  model.layers.0.layer_scalar in model.safetensors: element 0 of 1 is NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := fitting()
			c.change(content)
			ckpt := checkpoint(t, content)
			b, err := ckpt.Bind(expected, setAside)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var rejected *weights.RejectedError
			var mismatch *weights.MismatchError
			if b != nil || !errors.As(err, &rejected) || !errors.As(err, &mismatch) {
				t.Fatalf("binding %v, error %v; want a *RejectedError around a *MismatchError", b, err)
			}
			if diff := cmp.Diff(ckpt.Name()+": "+c.want, err.Error()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// A vector is checked up to and including 65536 elements.
func TestNonFiniteVectors(t *testing.T) {
	for _, c := range []struct {
		n, at int
		want  bool
	}{{8, 5, true}, {65536, 65535, true}, {65537, 65536, false}} {
		values := make([]float32, c.n)
		values[c.at] = float32(math.NaN())
		slots := []weights.Slot{{Name: "norm", Shape: []int{c.n}}}
		_, err := checkpoint(t, tensors{"norm": f32([]int{c.n}, values...)}).Bind(slots, nil)
		text := fmt.Sprintf("norm in model.safetensors: element %d of %d is NaN", c.at, c.n)
		if (err != nil) != c.want || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%d elements, NaN at %d: %v", c.n, c.at, err)
		}
	}
}

// A checkpoint of another family, in which nothing fits: the text stays short,
// and the report has everything.
func TestHundredsMissing(t *testing.T) {
	content := tensors{}
	var slots []weights.Slot
	for i := range 300 {
		slots = append(slots, weights.Slot{Name: fmt.Sprintf("model.decoder.layers.%d.mlp.up_proj.weight", i), Shape: []int{1}})
		content[fmt.Sprintf("model.language_model.layers.%d.mlp.up_proj.weight", i)] = f32([]int{1})
	}
	_, err := checkpoint(t, content).Bind(slots, nil)
	var mismatch *weights.MismatchError
	if !errors.As(err, &mismatch) {
		t.Fatal(err)
	}
	if got := len(mismatch.Report.Missing); got != 300 {
		t.Errorf("%d slots are reported missing, want 300", got)
	}
	if got := len(mismatch.Report.Surplus); got != 300 {
		t.Errorf("%d tensors are surplus, want 300", got)
	}
	for i, m := range mismatch.Report.Missing {
		want := fmt.Sprintf("model.language_model.layers.%d.mlp.up_proj.weight", i)
		if len(m.Nearest) == 0 || len(m.Nearest) > 3 || m.Nearest[0] != want {
			t.Errorf("nearest of %s: %v, want %s first", m.Slot.Name, m.Nearest, want)
		}
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 12 || !strings.HasSuffix(lines[0], ": 300 tensors are missing:") || lines[11] != "  and 290 more" {
		t.Errorf("text of %d lines:\n%s", len(lines), err)
	}
}

// Names come from a foreign file and are shown on a terminal.
func TestStrangeNames(t *testing.T) {
	slots := []weights.Slot{{Name: "model.norm.weight", Shape: []int{1}}}
	_, err := checkpoint(t, tensors{"\x1b[2J.norm.weight": f32([]int{1})}).Bind(slots, nil)
	if err == nil || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), `"\x1b[2J.norm.weight"`) {
		t.Errorf("text %q, want the name quoted", err)
	}
}

// However the tensors are spread over shards, and wherever they are read from,
// every slot gets the same bytes.
func TestShardsBindEqualBytes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		content := tensors{}
		var slots []weights.Slot
		for i := range rapid.IntRange(1, 12).Draw(r, "tensors") {
			name := fmt.Sprintf("model.layers.%d.weight", i)
			shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 3).Draw(r, "shape")
			slots = append(slots, weights.Slot{Name: name, Shape: shape})
			x := f32(shape)
			for j := range x.Data {
				x.Data[j] ^= byte(i)
			}
			content[name] = x
		}
		config := []byte("{}")
		single := map[string][]byte{"config.json": config, "model.safetensors": encode(t, content)}

		shards := map[string]tensors{}
		place := map[string]string{}
		n := rapid.IntRange(1, 4).Draw(r, "shards")
		for _, slot := range slots {
			shard := fmt.Sprintf("model-%05d-of-%05d.safetensors", rapid.IntRange(1, n).Draw(r, "shard"), n)
			if shards[shard] == nil {
				shards[shard] = tensors{}
			}
			shards[shard][slot.Name] = content[slot.Name]
			place[slot.Name] = shard
		}
		sharded := map[string][]byte{"config.json": config, "model.safetensors.index.json": index(t, place)}
		for name, part := range shards {
			sharded[name] = encode(t, part)
		}

		for i, files := range []map[string][]byte{single, sharded} {
			fsys := fstest.MapFS{}
			for name, data := range files {
				fsys[name] = &fstest.MapFile{Data: data}
			}
			mapped, err := weights.OpenDir(folder(t, files))
			if err != nil {
				r.Fatal(err)
			}
			embedded, err := weights.OpenFS(fsys, "embedded")
			if err != nil {
				r.Fatal(err)
			}
			for _, c := range []*weights.Checkpoint{mapped, embedded} {
				b, err := c.Bind(slots, nil)
				if err != nil {
					r.Fatal(err)
				}
				for _, slot := range slots {
					got, want := b.Tensor(slot.Name), content[slot.Name]
					if got.Format != quant.F32 || string(got.Data) != string(want.Data) || fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) {
						r.Errorf("%s of files %d: %v, want %v", slot.Name, i, got, want)
					}
				}
				if err := c.Close(); err != nil {
					r.Fatal(err)
				}
			}
		}
	})
}
