package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/tensor"
)

const (
	lengthSize  = 8           // the header's length, in front of it
	maxHeader   = 100_000_000 // bytes, the limit of the format
	metadataKey = "__metadata__"
)

// entry is one tensor of a header. Its bytes are data[begin:end], where data
// is what follows the header.
type entry struct {
	name       string
	dtype      dtype.Type
	shape      []int
	begin, end uint64
}

type header struct {
	entries  []entry // in the order of their data
	metadata map[string]string
	data     []byte
}

// lfsPointer is the beginning of the small text that Git has in the place of a
// file kept elsewhere. Cloning a checkpoint without Git LFS leaves it behind.
const lfsPointer = "version https://git-lfs"

// parseHeader reads and checks a whole file.
func parseHeader(file []byte) (*header, error) {
	if len(file) < lengthSize {
		return nil, fmt.Errorf("%s: too short for the length of a header", count(len(file), "byte"))
	}
	n := binary.LittleEndian.Uint64(file)
	if bytes.HasPrefix(file, []byte(lfsPointer)) {
		return nil, errors.New("is a Git LFS pointer; the file that it stands for has not been fetched")
	}
	if n > maxHeader {
		return nil, fmt.Errorf("header of %d bytes: the limit is %d", n, maxHeader)
	}
	if room := len(file) - lengthSize; n > uint64(room) {
		return nil, fmt.Errorf("header of %d bytes: only %d follow", n, room)
	}
	text := file[lengthSize : lengthSize+int(n)]
	h := &header{data: file[lengthSize+int(n):]}
	if n == 0 || text[0] != '{' {
		return nil, fmt.Errorf("at byte %d: the header does not begin with {", lengthSize)
	}
	r, err := newJSONTokens(text, lengthSize)
	if err != nil {
		return nil, err
	}
	err = r.object("the header", func(key string) error {
		if key == metadataKey {
			h.metadata, err = readMetadata(r)
			return err
		}
		e, err := readEntry(r, key)
		if err == nil {
			err = e.check(uint64(len(h.data)))
		}
		if err != nil {
			return fmt.Errorf("tensor %s: %w", label(key), err)
		}
		h.entries = append(h.entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return h, h.checkCover()
}

func readMetadata(r *jsonTokens) (map[string]string, error) {
	m := map[string]string{}
	err := r.object(metadataKey, func(key string) error {
		value, err := r.text(metadataKey + " " + label(key))
		m[key] = value
		return err
	})
	return m, err
}

// readEntry reads the object of one tensor. Unknown fields are skipped, so that
// a later version of the format may add some.
func readEntry(r *jsonTokens, name string) (entry, error) {
	e := entry{name: name}
	var dims, offsets []uint64
	err := r.object("the entry", func(field string) (err error) {
		switch field {
		case "dtype":
			var s string
			if s, err = r.text("dtype"); err != nil {
				return err
			}
			if e.dtype, err = dtype.Parse(s); err != nil {
				return r.errorf("unknown dtype %s", label(s))
			}
			return nil
		case "shape":
			dims, err = r.counts("shape")
		case "data_offsets":
			if offsets, err = r.counts("data_offsets"); err == nil && len(offsets) != 2 {
				err = r.errorf("data_offsets has %s, not 2", count(len(offsets), "number"))
			}
		default:
			err = r.skip()
		}
		return err
	})
	if err != nil {
		return e, err
	}
	switch {
	case e.dtype == dtype.Invalid:
		return e, r.errorf("no dtype")
	case dims == nil:
		return e, r.errorf("no shape")
	case offsets == nil:
		return e, r.errorf("no data_offsets")
	}
	e.shape = make([]int, len(dims))
	for i, d := range dims {
		if d > math.MaxInt {
			return e, r.errorf("dimension %d of shape %d is too large", i, dims)
		}
		e.shape[i] = int(d)
	}
	e.begin, e.end = offsets[0], offsets[1]
	return e, nil
}

// check tests the entry alone against a file with size bytes of data.
func (e *entry) check(size uint64) error {
	if e.begin > e.end {
		return fmt.Errorf("data_offsets [%d, %d] run backwards", e.begin, e.end)
	}
	want, err := tensor.Bytes(e.dtype, e.shape)
	if err != nil {
		return err
	}
	if have := e.end - e.begin; have != uint64(want) {
		return fmt.Errorf("data_offsets [%d, %d] hold %d bytes, but shape %v of %v needs %d",
			e.begin, e.end, have, e.shape, e.dtype, want)
	}
	if e.end > size {
		return fmt.Errorf("data_offsets [%d, %d]: %s past end of file", e.begin, e.end, count(e.end-size, "byte"))
	}
	return nil
}

// checkCover sorts the entries by their data and makes sure that they cover it
// without overlap or gap.
func (h *header) checkCover() error {
	slices.SortFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	var covered uint64
	last := ""
	for _, e := range h.entries {
		switch {
		case e.begin < covered:
			return fmt.Errorf("tensor %s: data_offsets [%d, %d] overlap tensor %s, which ends at %d",
				label(e.name), e.begin, e.end, label(last), covered)
		case e.begin > covered:
			return fmt.Errorf("tensor %s: data_offsets [%d, %d] leave a hole of %s before it",
				label(e.name), e.begin, e.end, count(e.begin-covered, "byte"))
		}
		covered, last = e.end, e.name
	}
	if rest := uint64(len(h.data)) - covered; rest > 0 {
		return fmt.Errorf("%s after the last tensor, from data offset %d on", count(rest, "byte"), covered)
	}
	return nil
}

// count writes a number and its unit, in the plural but for 1.
func count[N int | uint64](n N, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
