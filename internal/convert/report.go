package convert

import (
	"fmt"
	"math"
	"slices"

	"github.com/frescolm/fresco/internal/model"
	"github.com/frescolm/fresco/internal/models"
)

// A Report accounts for every tensor of the source and of the file that was
// written.
type Report struct {
	Source string `json:"source"`
	Output string `json:"output"`
	Type   string `json:"type"`
	// SourceBytes and Bytes are the sizes of the tensors; FileBytes is that of the
	// file with all that stands before and between them.
	SourceBytes int64 `json:"source_bytes"`
	Bytes       int64 `json:"bytes"`
	FileBytes   int64 `json:"file_bytes"`
	// SourceTensors = Tensors - len(Added) + those of SetAside + len(Surplus).
	SourceTensors int      `json:"source_tensors"`
	Tensors       int      `json:"tensors"`
	Added         []string `json:"added"`
	SetAside      []Aside  `json:"set_aside"`
	// Surplus names tensors that no part of the model uses; they are not written.
	Surplus   []string   `json:"surplus"`
	Kinds     []Kind     `json:"kinds"`
	Fallbacks []Fallback `json:"fallbacks"`
	Notes     []string   `json:"notes"`
	Seconds   float64    `json:"seconds"`
}

// Aside is a group of tensors that are known and not written.
type Aside struct {
	Name    string `json:"name"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
}

// A Kind sums up the tensors of one kind.
type Kind struct {
	Kind        model.Kind `json:"kind"`
	Tensors     int        `json:"tensors"`
	Formats     []Count    `json:"formats"`
	Elements    int64      `json:"elements"`
	SourceBytes int64      `json:"source_bytes"`
	Bytes       int64      `json:"bytes"`
	// RMSError is the root of the mean square of what the elements lost against
	// the source, RelativeError that over the root of the mean square of the
	// elements. Both are 0 for tensors that are written as they were stored, which
	// do not count for the means.
	RMSError      float64 `json:"rms_error"`
	RelativeError float64 `json:"relative_error"`

	sum      tally
	measured int64 // elements behind sum
}

// Count is how many tensors have a format.
type Count struct {
	Format  string `json:"format"`
	Tensors int    `json:"tensors"`
}

// A Fallback is a tensor whose rows are not whole blocks of the planned format.
type Fallback struct {
	Tensor string `json:"tensor"`
	Row    int    `json:"row_elements"`
	Wanted string `json:"wanted"`
	Format string `json:"format"`
}

func newReport(s *models.Source, out string, p plan, notes []string) *Report {
	r := &Report{
		Source: s.Name, Output: out, Type: p.name, SourceTensors: len(s.Report.Found), Added: []string{}, SetAside: []Aside{},
		Surplus: append([]string{}, s.Report.Surplus...), Fallbacks: []Fallback{}, Notes: append([]string{}, notes...),
	}
	for _, info := range s.Report.Found {
		r.SourceBytes += info.Bytes
	}
	for _, g := range s.Report.Aside {
		r.SetAside = append(r.SetAside, Aside{g.Name, g.Count, g.Bytes})
	}
	return r
}

// wrote enters one tensor. measured is false for one that was copied.
func (r *Report) wrote(it *item, sourceBytes int, sum tally, measured bool) {
	r.Tensors++
	r.Bytes += int64(it.size)
	if it.derived {
		r.Added = append(r.Added, it.name)
	}
	if it.format != it.wanted {
		r.Fallbacks = append(r.Fallbacks, Fallback{it.name, it.shape[len(it.shape)-1], it.wanted.String(), it.format.String()})
	}
	i := slices.IndexFunc(r.Kinds, func(k Kind) bool { return k.Kind == it.kind })
	if i < 0 {
		i = len(r.Kinds)
		r.Kinds = append(r.Kinds, Kind{Kind: it.kind})
	}
	k := &r.Kinds[i]
	k.Tensors++
	k.Elements += int64(it.elements())
	k.Bytes += int64(it.size)
	if !it.derived {
		k.SourceBytes += int64(sourceBytes)
	}
	j := slices.IndexFunc(k.Formats, func(c Count) bool { return c.Format == it.format.String() })
	if j < 0 {
		j = len(k.Formats)
		k.Formats = append(k.Formats, Count{Format: it.format.String()})
	}
	k.Formats[j].Tensors++
	if measured {
		k.sum.add(sum)
		k.measured += int64(it.elements())
	}
}

// finish computes the errors, sorts the kinds, and compares the counts.
func (r *Report) finish() error {
	order := model.Kinds()
	slices.SortFunc(r.Kinds, func(a, b Kind) int { return slices.Index(order, a.Kind) - slices.Index(order, b.Kind) })
	for i := range r.Kinds {
		k := &r.Kinds[i]
		if k.measured > 0 {
			k.RMSError = math.Sqrt(k.sum.loss / float64(k.measured))
		}
		if k.sum.weight > 0 {
			k.RelativeError = math.Sqrt(k.sum.loss / k.sum.weight)
		}
	}
	told := r.Tensors - len(r.Added) + len(r.Surplus)
	for _, a := range r.SetAside {
		told += a.Tensors
	}
	if told != r.SourceTensors {
		return fmt.Errorf("the source has %d tensors, of which %d are accounted for", r.SourceTensors, told)
	}
	return nil
}
