package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/models"
	"github.com/frescolm/fresco/internal/pool"
	"github.com/frescolm/fresco/internal/quant"
)

// Options say what Quantize does.
type Options struct {
	// Type is one of Types.
	Type string
	// Force allows a file to be overwritten.
	Force bool
	// Threads is the number of workers; 0 takes the physical cores.
	Threads int
	// Progress is called after every chunk, from the goroutine that called
	// Quantize; nil for never.
	Progress func(Progress)
}

// Progress is how far a file is.
type Progress struct {
	// Tensor is the one that is being written.
	Tensor      string
	Done, Total int64 // bytes
}

// Quantize writes the checkpoint with an embedded name, in a folder or in a GGUF
// file as a GGUF file at out, with the formats that the plan of the type gives to
// its tensors. The file appears at once or not at all. A type that is none of
// Types is an error, a path that may not be written to an *OutputError, too little
// room a *SpaceError. The error is the context's cause when that ends it.
func Quantize(ctx context.Context, nameOrPath, out string, o Options) (report *Report, err error) {
	begun := time.Now()
	p, ok := findPlan(o.Type)
	if !ok {
		return nil, fmt.Errorf("convert: unknown type %q (known: %s)", o.Type, strings.Join(Types(), ", "))
	}
	if err := checkOutput(out, o.Force); err != nil {
		return nil, err
	}
	source, err := models.OpenSource(nameOrPath)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	items, err := planned(source, p)
	if err != nil {
		return nil, err
	}
	keys, notes := metadata(source, p)
	if blocks := blockFormats(source); blocks != "" {
		notes = append(notes, "the source is quantised already ("+blocks+"): errors are against that, not against what it was made of")
	}
	report = newReport(source, out, p, notes)

	threads := o.Threads
	if threads == 0 {
		threads = pool.Cores()
	}
	workers := pool.New(threads)
	defer workers.Close()
	progress := Progress{}
	for _, it := range items {
		progress.Total += int64(it.size)
	}
	c := newConverter(ctx, workers, func(n int) {
		progress.Done += int64(n)
		if o.Progress != nil {
			o.Progress(progress)
		}
	})
	data := make(map[string][]byte, len(source.Tensors))
	for _, t := range source.Tensors {
		data[t.Name] = t.Tensor.Data
	}
	report.FileBytes, err = writeFile(ctx, out, keys, items, func(w io.Writer, it *item) error {
		progress.Tensor = it.name
		stored := data[it.name]
		if it.format == it.stored {
			if err := c.copied(w, stored); err != nil {
				return err
			}
			report.wrote(it, len(stored), tally{}, false)
			return nil
		}
		sum, err := c.write(w, it)
		if err != nil {
			return err
		}
		report.wrote(it, len(stored), sum, true)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := report.finish(); err != nil {
		return nil, err
	}
	more, err := readBack(source, out)
	if err != nil {
		return nil, err
	}
	report.Notes = append(report.Notes, more...)
	report.Seconds = time.Since(begun).Seconds()
	return report, nil
}

// planned lists the tensors to write, with their formats.
func planned(s *models.Source, p plan) ([]*item, error) {
	var items []*item
	for _, t := range s.Tensors {
		it := &item{name: t.Name, kind: t.Kind, shape: t.Tensor.Shape, stored: t.Tensor.Format, derived: t.Derived}
		it.format, it.wanted = p.format(t.Kind, it.stored, it.shape)
		if !it.format.HasEncoder() && it.format != it.stored {
			return nil, fmt.Errorf("tensor %s: %v cannot be written", it.name, it.format)
		}
		var err error
		if it.size, err = it.format.RowBytes(it.elements()); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", it.name, err)
		}
		it.fill = decoder(t)
		items = append(items, it)
	}
	return items, nil
}

// decoder reads elements of a stored tensor.
func decoder(t model.ExportTensor) func(dst []float32, at int) error {
	format := t.Tensor.Format
	return func(dst []float32, at int) error {
		from, err := format.RowBytes(at)
		if err != nil {
			return err
		}
		size, err := format.RowBytes(len(dst))
		if err != nil {
			return err
		}
		return quant.Decode(format, dst, t.Tensor.Data[from:from+size])
	}
}

// blockFormats names the block formats among the source's weights.
func blockFormats(s *models.Source) string {
	var names []string
	for _, t := range s.Tensors {
		if name := t.Tensor.Format.String(); t.Tensor.Format.BlockElements() > 1 && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
