package convert

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/frescolm/fresco/gguf"
	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/pool"
	"github.com/frescolm/fresco/internal/quant"
	"github.com/frescolm/fresco/safetensors"
)

// SynthTypes lists the types that Synthesize knows. bf16 is a folder, the others
// are GGUF files.
func SynthTypes() []string { return []string{"q4_0", mixType, "q8_0", folderType} }

const folderType = "bf16"

// SynthOptions say what Synthesize makes.
type SynthOptions struct {
	// Size is one of Sizes, Type one of SynthTypes.
	Size, Type string
	Seed       uint64
	// Force allows a file, or the files of a checkpoint in a folder, to be
	// overwritten.
	Force bool
	// Threads is the number of workers; 0 takes the physical cores. They change
	// nothing in the result.
	Threads int
	// Progress is called after every chunk; nil for never.
	Progress func(Progress)
}

// A SynthReport says what was made.
type SynthReport struct {
	Output     string  `json:"output"`
	Size       string  `json:"size"`
	Type       string  `json:"type"`
	Seed       uint64  `json:"seed"`
	Parameters int64   `json:"parameters"`
	Tensors    int     `json:"tensors"`
	Bytes      int64   `json:"bytes"` // of the tensors
	Seconds    float64 `json:"seconds"`
}

// Synthesize makes a checkpoint with random weights at out, of which random.go says
// how they are drawn. It has no tokenizer. A GGUF file or a new folder appears at
// once or not at all; errors are those of Quantize.
func Synthesize(ctx context.Context, out string, o SynthOptions) (*SynthReport, error) {
	begun := time.Now()
	s, ok := findShape(o.Size)
	if !ok {
		return nil, fmt.Errorf("convert: unknown size %q (known: %s)", o.Size, strings.Join(Sizes(), ", "))
	}
	if !slices.Contains(SynthTypes(), o.Type) {
		return nil, fmt.Errorf("convert: unknown type %q (known: %s)", o.Type, strings.Join(SynthTypes(), ", "))
	}
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	blueprint, err := models.Blueprint(modelType, config, generation())
	if err != nil {
		return nil, err
	}
	formats, fileType, err := synthFormats(blueprint.Tensors, o.Type)
	if err != nil {
		return nil, err
	}
	r := &SynthReport{Output: out, Size: o.Size, Type: o.Type, Seed: o.Seed}
	var items []*item
	for i, t := range blueprint.Tensors {
		if t.Official == "" && o.Type == folderType {
			continue // the folder layout does not have it
		}
		it, err := drawn(s, t, formats[i], o)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
		r.Tensors++
		r.Bytes += int64(it.size)
		if !it.derived {
			r.Parameters += int64(it.elements())
		}
	}

	threads := o.Threads
	if threads == 0 {
		threads = pool.Cores()
	}
	workers := pool.New(threads)
	defer workers.Close()
	progress := Progress{Total: r.Bytes}
	c := newConverter(ctx, workers, func(n int) {
		progress.Done += int64(n)
		if o.Progress != nil {
			o.Progress(progress)
		}
	})
	c.unmeasured = true
	content := func(w io.Writer, it *item) error {
		progress.Tensor = it.name
		_, err := c.write(w, it)
		return err
	}
	if o.Type == folderType {
		err = writeFolder(ctx, out, config, items, o.Force, content)
	} else {
		err = synthFile(ctx, out, blueprint, fileType, s, items, o.Force, content)
	}
	if err != nil {
		return nil, err
	}
	r.Seconds = time.Since(begun).Seconds()
	return r, nil
}

// synthFormats are the formats of the tensors, and the number for most of them.
func synthFormats(tensors []model.ExportTensor, typ string) (formats []quant.Format, fileType uint32, err error) {
	if typ == mixType {
		formats, err = mixFormats(tensors)
		return formats, mixFile, err
	}
	p, ok := findPlan(typ)
	if !ok {
		return nil, 0, fmt.Errorf("no plan for %s", typ)
	}
	for _, t := range tensors {
		f := quant.BF16
		if typ != folderType {
			f, _ = p.format(t.Kind, quant.BF16, t.Tensor.Shape)
		}
		formats = append(formats, f)
	}
	return formats, p.fileType, nil
}

// drawn is the tensor of a blueprint with its random weights.
func drawn(s shape, t model.ExportTensor, format quant.Format, o SynthOptions) (*item, error) {
	it := &item{name: t.Name, kind: t.Kind, shape: t.Tensor.Shape, format: format, derived: t.Derived}
	if o.Type == folderType {
		it.name = t.Official
	}
	if t.Derived {
		it.fill = decoder(t)
	} else {
		r := s.randomOf(t, o.Seed)
		it.fill = r.fill
		if hasBlocks(format) {
			it.blocks = func(data []byte, at int) error { return r.blocks(format, data, at) }
		}
	}
	var err error
	if it.size, err = it.format.RowBytes(it.elements()); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", it.name, err)
	}
	return it, nil
}

// synthFile writes a GGUF file.
func synthFile(ctx context.Context, out string, blueprint *model.Export, fileType uint32, s shape, items []*item, force bool, content func(io.Writer, *item) error) error {
	if err := checkOutput(out, force); err != nil {
		return err
	}
	keys := append(blueprint.Metadata,
		gguf.KeyValue{Key: fileTypeKey, Value: fileType},
		gguf.KeyValue{Key: versionKey, Value: uint32(quantVersion)},
		gguf.KeyValue{Key: nameKey, Value: "synthetic " + s.name},
		gguf.KeyValue{Key: tokenizerIs + "model", Value: "no_vocab"},
		gguf.KeyValue{Key: tokenizerIs + "bos_token_id", Value: uint32(2)},
		gguf.KeyValue{Key: tokenizerIs + "eos_token_id", Value: uint32(1)},
		gguf.KeyValue{Key: tokenizerIs + "padding_token_id", Value: uint32(0)},
	)
	_, err := writeFile(ctx, out, keys, items, content)
	return err
}

// headerRoom is more than the header of a folder's tensors and its small files need.
const headerRoom = 1 << 20

// writeFolder writes a checkpoint folder. A new one is filled beside its place and
// then renamed; in one that is there, file after file is replaced.
func writeFolder(ctx context.Context, out string, config []byte, items []*item, force bool, content func(io.Writer, *item) error) (err error) {
	info, err := os.Stat(out)
	isThere := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case isThere && !info.IsDir():
		return &OutputError{out, "is a file; the output is a folder"}
	case isThere && !force:
		return &OutputError{out, "exists; --force overwrites the checkpoint in it"}
	}
	var needs int64 = headerRoom
	tensors := make(map[string]safetensors.Tensor, len(items))
	for _, it := range items {
		needs += int64(it.size)
		tensors[it.name] = safetensors.Tensor{DType: safetensors.BF16, Shape: it.shape, Content: func(w io.Writer) error { return content(w, it) }}
	}
	if err := checkSpace(out, needs); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	dir := out
	if !isThere {
		parent, base := filepath.Split(filepath.Clean(out))
		dir = filepath.Join(parent, "."+base+"."+rand.Text()[:10]+".tmp")
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, os.RemoveAll(dir))
			}
		}()
	}
	if err := safetensors.WriteFile(filepath.Join(dir, "model.safetensors"), tensors, map[string]string{"format": "pt"}); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"config.json": append(config, '\n'), "generation_config.json": generation()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	if isThere {
		return nil
	}
	return os.Rename(dir, out)
}
