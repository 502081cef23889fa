package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/tensor"
)

// Write writes a whole file to w. The same input gives the same bytes: tensors
// are laid out by falling element width, which keeps each aligned to its
// elements, then by rising name. Empty metadata is left out. Nothing is written
// when a tensor's data does not fit its shape, or a name cannot be stored; a
// Content that writes more or less is an error when it is reached.
func Write(w io.Writer, tensors map[string]Tensor, metadata map[string]string) error {
	if err := write(w, tensors, metadata); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
}

func write(w io.Writer, tensors map[string]Tensor, metadata map[string]string) error {
	names := slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		return cmp.Or(cmp.Compare(tensors[b].DType.Bits(), tensors[a].DType.Bits()), cmp.Compare(a, b))
	})
	head, err := appendHeader(make([]byte, lengthSize), names, tensors, metadata)
	if err != nil {
		return err
	}
	// Spaces after the JSON start the data on a multiple of 8.
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	size := len(head) - lengthSize
	if size > maxHeader {
		return fmt.Errorf("header of %d bytes: the limit is %d", size, maxHeader)
	}
	binary.LittleEndian.PutUint64(head, uint64(size))
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	for _, name := range names {
		if err := writeTensor(w, tensors[name]); err != nil {
			return fmt.Errorf("tensor %s: %w", label(name), err)
		}
	}
	return nil
}

func writeTensor(w io.Writer, t Tensor) error {
	if t.Content == nil {
		_, err := w.Write(t.Data)
		return err
	}
	size, err := t.size()
	if err != nil {
		return err
	}
	exact := &exactWriter{w: w, left: size}
	if err := t.Content(exact); err != nil {
		return err
	}
	if exact.left > 0 {
		return fmt.Errorf("the content ended %d of %d bytes before the end", exact.left, size)
	}
	return nil
}

// size is the number of bytes of the tensor's shape.
func (t Tensor) size() (int, error) {
	typ, err := dtype.Parse(string(t.DType))
	if err != nil {
		return 0, err
	}
	return tensor.Bytes(typ, t.Shape)
}

// exactWriter refuses to write beyond the end of a tensor.
type exactWriter struct {
	w    io.Writer
	left int
}

func (e *exactWriter) Write(p []byte) (int, error) {
	if len(p) > e.left {
		return 0, errors.New("the content is longer than the tensor")
	}
	n, err := e.w.Write(p)
	e.left -= n
	return n, err
}

// appendHeader appends the JSON of the header, with the data in the order of
// names.
func appendHeader(head []byte, names []string, tensors map[string]Tensor, metadata map[string]string) ([]byte, error) {
	b := bytes.NewBuffer(head)
	separator := "{"
	if len(metadata) > 0 {
		for key, value := range metadata {
			if !utf8.ValidString(key) || !utf8.ValidString(value) {
				return nil, fmt.Errorf("%s %s: not valid UTF-8", metadataKey, label(key))
			}
		}
		text, err := json.Marshal(metadata)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(b, "%s%q:%s", separator, metadataKey, text)
		separator = ","
	}
	var begin uint64
	for _, name := range names {
		t := tensors[name]
		size, err := checkWritable(name, t)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", label(name), err)
		}
		end := begin + uint64(size)
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		shape, err := json.Marshal(append([]int{}, t.Shape...)) // a nil shape is [], not null
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(b, `%s%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`,
			separator, key, t.DType, shape, begin, end)
		separator = ","
		begin = end
	}
	if separator == "{" {
		b.WriteString("{")
	}
	b.WriteString("}")
	return b.Bytes(), nil
}

// checkWritable returns the number of bytes of a tensor that can be written.
func checkWritable(name string, t Tensor) (int, error) {
	if name == metadataKey {
		return 0, errors.New("the name is reserved")
	}
	if !utf8.ValidString(name) {
		return 0, errors.New("the name is not valid UTF-8")
	}
	want, err := t.size()
	if err != nil {
		return 0, err
	}
	if t.Content == nil && len(t.Data) != want {
		return 0, fmt.Errorf("shape %v of %s is %d bytes, not %d", t.Shape, t.DType, want, len(t.Data))
	}
	return want, nil
}
