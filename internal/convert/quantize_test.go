package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/google/go-cmp/cmp"
)

func testdata(parts ...string) string {
	return filepath.Join(append([]string{fixtures.Root(), "testdata", "fixtures"}, parts...)...)
}

// quantize writes a file of a type in a new folder.
func quantize(t *testing.T, source, typ string) (path string, r *Report) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "out.gguf")
	r, err := Quantize(t.Context(), source, path, Options{Type: typ, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return path, r
}

// logits are those of a canvas after a short prompt, in a first step and in one
// that is conditioned on it.
func logits(t *testing.T, nameOrPath string) []float32 {
	t.Helper()
	m, err := models.Open(nameOrPath, models.Options{Arithmetic: "exact", KernelClass: "generic", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := m.Backend
	s := b.NewSequence()
	defer s.Release()
	step := func(item model.Item) {
		t.Helper()
		results, err := b.Step(t.Context(), []model.Item{item})
		if err != nil {
			t.Fatal(err)
		}
		if at := results[0].NonFinite; at != nil {
			t.Fatal(at)
		}
	}
	ids := make([]int32, 8)
	for i := range ids {
		ids[i] = int32(i*37%b.Config().VocabSize + 1)
	}
	step(model.Item{Encode: &model.Encode{Sequence: s, Segments: []model.Segment{{IDs: ids}}}})
	canvas, err := s.NewCanvas(len(ids))
	if err != nil {
		t.Fatal(err)
	}
	defer canvas.Release()
	var all []float32
	for range 2 {
		step(model.Item{Denoise: &model.Denoise{Canvas: canvas, Sequence: s, IDs: ids, Temperature: 1}})
		part := make([]float32, len(ids)*b.Config().VocabSize)
		if err := canvas.Logits(part); err != nil {
			t.Fatal(err)
		}
		all = append(all, part...)
	}
	return all
}

// relative is the RMS of the difference over that of want.
func relative(got, want []float32) float64 {
	var d, n float64
	for i, w := range want {
		d += math.Pow(float64(got[i])-float64(w), 2)
		n += float64(w) * float64(w)
	}
	return math.Sqrt(d / n)
}

// Weights that lose nothing give the same bits; the others stay as near as their
// bits allow.
func TestLogitsAfterQuantize(t *testing.T) {
	for _, c := range []struct {
		source, typ string
		limit       float64
	}{
		{testdata("text", "ckpt", "tiny-bf16"), "bf16", 0},
		{testdata("text", "ckpt", "tiny"), "f16", 0.01},
		{testdata("text", "ckpt", "tiny"), "q8_0", 0.1},
		{"sudoku", "bf16", 0},
		{"sudoku", "q8_0", 0.1},
		{"sudoku", "mixed", 0.6},
		{"sudoku", "q4_0", 0.8},
		{testdata("formats", "gguf", "tiny-mixed.gguf"), "bf16", 0.1},
	} {
		t.Run(filepath.Base(c.source)+" "+c.typ, func(t *testing.T) {
			path, _ := quantize(t, c.source, c.typ)
			want, got := logits(t, c.source), logits(t, path)
			if c.limit == 0 {
				if !slices.Equal(got, want) {
					t.Error("the logits differ")
				}
				return
			}
			r := relative(got, want)
			t.Logf("relative RMS of the difference: %.3g", r)
			if !(r > 0 && r <= c.limit) {
				t.Errorf("it is not in (0, %g]", c.limit)
			}
		})
	}
}

// What the configuration, the sampler and the tokenizer say is the same afterwards.
func TestMetadataAfterQuantize(t *testing.T) {
	for _, source := range []string{"sudoku", testdata("text", "ckpt", "tiny"), testdata("formats", "gguf", "tiny-mixed.gguf")} {
		t.Run(filepath.Base(source), func(t *testing.T) {
			path, r := quantize(t, source, "bf16")
			before, err := models.OpenSource(source)
			if err != nil {
				t.Fatal(err)
			}
			defer before.Close()
			after, err := models.OpenSource(path)
			if err != nil {
				t.Fatal(err)
			}
			defer after.Close()
			want, got := *before.Config, *after.Config
			for _, c := range []*model.Config{&want, &got} {
				c.Generation.MaxNewTokens, c.Generation.Ignored = 0, nil // neither is used
				c.Tokens.End = sorted(c.Tokens.End)
			}
			if !slices.Equal(want.Tokens.End, got.Tokens.End) {
				told := func(note string) bool { return strings.Contains(note, fmt.Sprint(got.Tokens.End)) }
				for _, id := range want.Tokens.End {
					if !slices.Contains(got.Tokens.End, id) {
						t.Errorf("the end id %d is lost", id)
					}
				}
				if !slices.ContainsFunc(r.Notes, told) {
					t.Errorf("no note tells of the end ids %v: %q", got.Tokens.End, r.Notes)
				}
				got.Tokens.End = want.Tokens.End
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("configuration (-source +written):\n%s", diff)
			}
			if before.Template != after.Template {
				t.Errorf("template %q, then %q", before.Template, after.Template)
			}
			if (before.Tokenizer == nil) != (after.Tokenizer == nil) {
				t.Fatalf("tokenizer %v, then %v", before.Tokenizer != nil, after.Tokenizer != nil)
			}
			if before.Tokenizer == nil {
				return
			}
			a, errA := before.Tokenizer.Parts()
			b, errB := after.Tokenizer.Parts()
			if diff := cmp.Diff(a, b); diff != "" || errA != nil || errB != nil {
				t.Errorf("%v, %v, tokenizer (-source +written):\n%s", errA, errB, diff)
			}
		})
	}
}

// The errors of the report are those of the file, and the counts add up.
func TestReport(t *testing.T) {
	path, r := quantize(t, "sudoku", "q4_0")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.FileBytes != info.Size() {
		t.Errorf("%d bytes, the file has %d", r.FileBytes, info.Size())
	}
	before, err := models.OpenSource("sudoku")
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type sums struct {
		tensors, elements int
		bytes             int64
		loss, weight      float64
	}
	want := map[model.Kind]*sums{}
	for _, stored := range before.Tensors {
		written, ok := f.Tensor(stored.Name)
		if !ok {
			t.Fatalf("no tensor %s", stored.Name)
		}
		n := stored.Tensor.Elements()
		a, b := make([]float32, n), make([]float32, n)
		format, err := quant.ByID(uint32(written.Type))
		if err == nil {
			err = errors.Join(quant.Decode(stored.Tensor.Format, a, stored.Tensor.Data), quant.Decode(format, b, written.Data))
		}
		if err != nil {
			t.Fatal(err)
		}
		s := want[stored.Kind]
		if s == nil {
			s = &sums{}
			want[stored.Kind] = s
		}
		s.tensors++
		s.elements += n
		s.bytes += int64(len(written.Data))
		for i := range a {
			s.loss += math.Pow(float64(a[i])-float64(b[i]), 2)
			s.weight += float64(a[i]) * float64(a[i])
		}
	}
	if len(r.Kinds) != len(want) {
		t.Errorf("%d kinds, want %d", len(r.Kinds), len(want))
	}
	for _, k := range r.Kinds {
		s := want[k.Kind]
		if s == nil {
			t.Errorf("%s is a surprise", k.Kind)
			continue
		}
		if k.Tensors != s.tensors || k.Elements != int64(s.elements) || k.Bytes != s.bytes {
			t.Errorf("%s: %d tensors, %d elements, %d bytes, want %+v", k.Kind, k.Tensors, k.Elements, k.Bytes, *s)
		}
		rms, rel := math.Sqrt(s.loss/float64(s.elements)), math.Sqrt(s.loss/s.weight)
		if math.Abs(k.RMSError-rms) > 1e-9*rms || math.Abs(k.RelativeError-rel) > 1e-9*rel {
			t.Errorf("%s: errors %g and %g, want %g and %g", k.Kind, k.RMSError, k.RelativeError, rms, rel)
		}
	}
	if k := r.Kinds[0]; k.Kind != model.Table || k.RMSError == 0 {
		t.Errorf("first is %s with error %g, want the table with some", k.Kind, k.RMSError)
	}
	aside := 0
	for _, a := range r.SetAside {
		aside += a.Tensors
	}
	if len(f.Tensors()) != r.Tensors || r.SourceTensors != r.Tensors-1+aside || aside == 0 || !slices.Equal(r.Added, []string{"rope_freqs.weight"}) {
		t.Errorf("%d tensors of %d, %d set aside, added %q; the file has %d", r.Tensors, r.SourceTensors, aside, r.Added, len(f.Tensors()))
	}
	if len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "prompt.json") {
		t.Errorf("notes %q", r.Notes)
	}
}

// The experts of this checkpoint have rows of 48, which are no whole blocks.
func TestFallbacks(t *testing.T) {
	path, r := quantize(t, testdata("text", "ckpt", "tiny"), "q4_0")
	if len(r.Fallbacks) != 4 {
		t.Fatalf("%d fallbacks, want one a layer: %v", len(r.Fallbacks), r.Fallbacks)
	}
	if want := (Fallback{"blk.0.ffn_down_exps.weight", 48, "Q4_0", "BF16"}); r.Fallbacks[0] != want {
		t.Errorf("%+v, want %+v", r.Fallbacks[0], want)
	}
	logits(t, path) // it runs
}

// The number of workers changes nothing in the file.
func TestSameBytes(t *testing.T) {
	var first []byte
	for _, threads := range []int{1, 3} {
		path := filepath.Join(t.TempDir(), "out.gguf")
		if _, err := Quantize(t.Context(), "sudoku", path, Options{Type: "mixed", Threads: threads}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		} else if !bytes.Equal(first, data) {
			t.Error("the files differ")
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	errStop := errors.New("stop")
	cancel(errStop)
	for _, c := range []struct {
		name, source, out, typ string
		ctx                    context.Context
		want                   string
	}{
		{name: "unknown type", out: "new", typ: "q3_0", want: `unknown type "q3_0" (known: q4_0, mixed, q8_0, f16, bf16)`},
		{name: "exists", out: "taken", want: "taken: exists; --force overwrites it"},
		{name: "a folder", out: ".", want: "is a folder; the output is a file"},
		{name: "no folder", out: "nowhere/new", want: "no such file or directory"},
		{name: "no source", source: filepath.Join(dir, "none"), out: "new", want: "no such file or directory"},
		{name: "no model", source: taken, out: "new", want: "not a GGUF file"},
		{name: "ended", out: "new", ctx: ended, want: "stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, typ, ctx := c.source, c.typ, c.ctx
			if source == "" {
				source = "sudoku"
			}
			if typ == "" {
				typ = "q8_0"
			}
			if ctx == nil {
				ctx = t.Context()
			}
			_, err := Quantize(ctx, source, filepath.Join(dir, c.out), Options{Type: typ})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if data, err := os.ReadFile(taken); err != nil || string(data) != "mine" {
		t.Errorf("the file that was there holds %q, %v", data, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v left behind, %v", entries, err)
	}
}

func TestForce(t *testing.T) {
	path, _ := quantize(t, "sudoku", "bf16")
	before := logits(t, path)
	// The source itself is overwritten.
	if _, err := Quantize(t.Context(), path, path, Options{Type: "bf16", Force: true}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, logits(t, path)) {
		t.Error("the logits differ")
	}
}

// An interrupt in the middle leaves nothing.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	errStop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Quantize(ctx, "sudoku", filepath.Join(dir, "out.gguf"), Options{Type: "q4_0", Progress: func(p Progress) {
		if p.Done > p.Total/2 {
			cancel(errStop)
		}
	}})
	if !errors.Is(err, errStop) {
		t.Errorf("error %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v left behind, %v", entries, err)
	}
}

func TestNoSpace(t *testing.T) {
	dir := t.TempDir()
	var space *SpaceError
	if err := checkSpace(filepath.Join(dir, "file"), 1<<62); !errors.As(err, &space) {
		t.Skipf("the system does not tell what is free: %v", err)
	}
	if space.Dir != dir || space.Needs != 1<<62 || space.Free <= 0 {
		t.Errorf("%+v", *space)
	}
	if err := checkSpace(filepath.Join(dir, "file"), 1); err != nil {
		t.Error(err)
	}
}

// A weight that no format holds is named with its place.
func TestNonFiniteWeight(t *testing.T) {
	file, err := gguf.Open(testdata("formats", "gguf", "tiny-mixed.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tensors := file.Tensors()
	i := slices.IndexFunc(tensors, func(x gguf.Tensor) bool { return x.Name == "blk.0.ffn_gate.weight" })
	n := 1
	for _, d := range tensors[i].Dims {
		n *= d
	}
	tensors[i].Type, tensors[i].Data = gguf.F32, make([]byte, 4*n)
	copy(tensors[i].Data[4*5:], []byte{0, 0, 0xc0, 0x7f}) // NaN
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := gguf.WriteFile(path, file.Metadata(), tensors); err != nil {
		t.Fatal(err)
	}
	for _, typ := range []string{"q8_0", "bf16"} {
		out := path + typ
		_, err = Quantize(t.Context(), path, out, Options{Type: typ})
		if err == nil || !strings.Contains(err.Error(), "blk.0.ffn_gate.weight") || !strings.Contains(err.Error(), "element 5") || !strings.Contains(err.Error(), "NaN") {
			t.Errorf("%s: error %v", typ, err)
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// A head of its own is kept as precise as the table, and a tensor that no part of
// the model uses is named and left out.
func TestHeadAndSurplus(t *testing.T) {
	file, err := gguf.Open(testdata("formats", "gguf", "tiny-mixed.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tensors := file.Tensors()
	table, _ := file.Tensor("token_embd.weight")
	n := table.Dims[0] * table.Dims[1]
	head := gguf.Tensor{Name: "output.weight", Type: gguf.F16, Dims: table.Dims, Data: make([]byte, 2*n)}
	for i := range n {
		head.Data[2*i], head.Data[2*i+1] = byte(i*31), 0x20|byte(i*7%2)<<7 // about ±0.01
	}
	strange := gguf.Tensor{Name: "strange.weight", Type: gguf.F32, Dims: []int{2}, Data: make([]byte, 8)}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := gguf.WriteFile(path, file.Metadata(), append(tensors, head, strange)); err != nil {
		t.Fatal(err)
	}
	out, r := quantize(t, path, "q4_0")
	if !slices.Equal(r.Surplus, []string{"strange.weight"}) || r.SourceTensors != r.Tensors+1 || len(r.Added) != 0 {
		t.Errorf("surplus %q, added %q, %d of %d tensors", r.Surplus, r.Added, r.Tensors, r.SourceTensors)
	}
	i := slices.IndexFunc(r.Kinds, func(k Kind) bool { return k.Kind == model.Head })
	if i < 0 || !slices.Equal(r.Kinds[i].Formats, []Count{{"Q8_0", 1}}) {
		t.Errorf("kinds %+v", r.Kinds)
	}
	if relative(logits(t, out), logits(t, path)) > 0.8 {
		t.Error("the logits are others")
	}
}
