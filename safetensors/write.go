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
// when a tensor's data does not fit its shape, or a name cannot be stored.
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
		if _, err := w.Write(tensors[name].Data); err != nil {
			return fmt.Errorf("tensor %s: %w", label(name), err)
		}
	}
	return nil
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
		if err := checkWritable(name, t); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", label(name), err)
		}
		end := begin + uint64(len(t.Data))
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

func checkWritable(name string, t Tensor) error {
	if name == metadataKey {
		return errors.New("the name is reserved")
	}
	if !utf8.ValidString(name) {
		return errors.New("the name is not valid UTF-8")
	}
	typ, err := dtype.Parse(string(t.DType))
	if err != nil {
		return err
	}
	want, err := tensor.Bytes(typ, t.Shape)
	if err != nil {
		return err
	}
	if len(t.Data) != want {
		return fmt.Errorf("shape %v of %v is %d bytes, not %d", t.Shape, typ, want, len(t.Data))
	}
	return nil
}
