package gguf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const (
	magic            = "GGUF"
	minVersion       = 2
	maxVersion       = 3
	headerSize       = 4 + 4 + 8 + 8
	alignmentKey     = "general.alignment"
	defaultAlignment = 32

	// A key or name is longer than this in no sane file; it is the format's
	// limit for keys.
	maxName = math.MaxUint16

	minEntry = 8 + 1 + 4 + 1         // bytes of a key of 1 byte with a value of 1 byte
	minInfo  = 8 + 1 + 4 + 8 + 4 + 8 // bytes of a tensor with 1 dimension and a name of 1 byte
)

// lfsPointer is the beginning of the small text that Git has in the place of a
// file kept elsewhere. Cloning a checkpoint without Git LFS leaves it behind.
const lfsPointer = "version https://git-lfs"

// info is what a file says about one tensor, whose bytes are data[offset:][:size].
type info struct {
	name   string
	typ    Type
	dims   []int
	offset uint64
	size   uint64
}

// parse reads and checks a whole file.
func (f *File) parse(file []byte) error {
	c := &cursor{file: file}
	tensors, keys, err := f.readHeader(c)
	if err != nil {
		return err
	}
	if err := f.readMetadata(c, keys); err != nil {
		return err
	}
	if err := f.readAlignment(len(file)); err != nil {
		return err
	}
	if err := f.readInfos(c, tensors); err != nil {
		return err
	}
	f.dataFrom = c.at + int(padding(uint64(c.at), f.alignment))
	if f.dataFrom < len(file) {
		f.data = file[f.dataFrom:]
	}
	return f.checkPlaces()
}

// readHeader returns the number of tensors and of metadata keys.
func (f *File) readHeader(c *cursor) (tensors, keys uint64, err error) {
	file := c.file
	if bytes.HasPrefix(file, []byte(lfsPointer)) {
		return 0, 0, errors.New("is a Git LFS pointer; the file that it stands for has not been fetched")
	}
	if head := file[:min(len(file), len(magic))]; string(head) != magic[:len(head)] {
		return 0, 0, errorf(0, "magic is %q, not %q: not a GGUF file", head, magic)
	}
	head, err := c.take(headerSize, "the header")
	if err != nil {
		return 0, 0, err
	}
	f.version, tensors, keys = getU32(head[4:]), getU64(head[8:]), getU64(head[16:])
	if swapped := bits.ReverseBytes32(f.version); swapped >= 1 && swapped <= maxVersion {
		return 0, 0, errorf(4, "version %d with its bytes reversed: big-endian files are not supported", swapped)
	}
	if f.version < minVersion || f.version > maxVersion {
		return 0, 0, errorf(4, "version %d is not %d or %d", f.version, minVersion, maxVersion)
	}
	if tensors > uint64(c.left())/minInfo {
		return 0, 0, tooMany(8, "tensors", tensors, c.left())
	}
	if keys > uint64(c.left())/minEntry {
		return 0, 0, tooMany(16, "metadata keys", keys, c.left())
	}
	return tensors, keys, nil
}

func tooMany(at int, what string, n uint64, left int) error {
	return errorf(at, "count of %s is %d, but only %s follow: truncated, or the count is wrong", what, n, count(left, "byte"))
}

// readMetadata reads n keys and values. The number is not yet proved, so room
// is made as they come.
func (f *File) readMetadata(c *cursor, n uint64) error {
	f.byKey = map[string]int{}
	for i := range n {
		at := c.at
		key, err := readName(c, "a key")
		if err != nil {
			return fmt.Errorf("metadata key %d: %w", i, err)
		}
		if _, ok := f.byKey[key]; ok {
			return errorf(at, "duplicate key %s", label(key))
		}
		v, err := readValue(c)
		if err != nil {
			return fmt.Errorf("key %s: %w", label(key), err)
		}
		f.byKey[key] = len(f.entries)
		f.entries = append(f.entries, entry{key, v})
	}
	return nil
}

// readName reads a metadata key or the name of a tensor.
func readName(c *cursor, what string) (string, error) {
	at := c.at
	raw, err := c.text(what)
	if err != nil {
		return "", err
	}
	if err := checkName(string(raw)); err != nil {
		return "", errorf(at, "%w", err)
	}
	return string(raw), nil
}

// checkName is the rule for keys and for names of tensors.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("string length %d of a name: the limit is %d", len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("name %s is not valid UTF-8", label(name))
	}
	return nil
}

// readAlignment takes the alignment from the metadata.
func (f *File) readAlignment(fileSize int) error {
	f.alignment = defaultAlignment
	i, ok := f.byKey[alignmentKey]
	if !ok {
		return nil
	}
	n, err := alignmentOf(f.entries[i].value.decode())
	if err != nil {
		return err
	}
	if n > uint64(fileSize) {
		return fmt.Errorf("key %s: alignment %d is larger than the file, which has %s",
			alignmentKey, n, count(fileSize, "byte"))
	}
	f.alignment = n
	return nil
}

// readInfos reads the descriptions of n tensors.
func (f *File) readInfos(c *cursor, n uint64) error {
	f.byName = map[string]int{}
	for i := range n {
		at := c.at
		name, err := readName(c, "a tensor's name")
		if err != nil {
			return fmt.Errorf("tensor %d: %w", i, err)
		}
		if _, ok := f.byName[name]; ok {
			return errorf(at, "duplicate tensor %s", label(name))
		}
		t, err := readInfo(c)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", label(name), err)
		}
		t.name = name
		f.byName[name] = len(f.infos)
		f.infos = append(f.infos, t)
	}
	return nil
}

// readInfo reads what follows the name of a tensor.
func readInfo(c *cursor) (info, error) {
	at := c.at
	n, err := c.u32("the dimension count")
	if err != nil {
		return info{}, err
	}
	if err := checkDimensionCount(uint64(n)); err != nil {
		return info{}, errorf(at, "%w", err)
	}
	dims := make([]uint64, n)
	for i := range dims {
		if dims[i], err = c.u64("a dimension"); err != nil {
			return info{}, err
		}
	}
	typ, err := c.u32("the tensor type")
	if err != nil {
		return info{}, err
	}
	t := info{typ: Type(typ)}
	if t.offset, err = c.u64("the offset"); err != nil {
		return info{}, err
	}
	if t.size, err = t.typ.size(dims); err != nil {
		return info{}, errorf(at, "%w", err)
	}
	for _, d := range dims {
		t.dims = append(t.dims, int(d))
	}
	return t, nil
}

// checkPlaces makes sure that every tensor lies in the data, aligned and apart
// from the others.
func (f *File) checkPlaces() error {
	for i := range f.infos {
		t := &f.infos[i]
		room := uint64(len(f.data))
		if t.offset > room || t.size > room-t.offset {
			return fmt.Errorf("tensor %s: %v %d at offset %d has %d bytes, past end of file: the data has %d",
				label(t.name), t.typ, t.dims, t.offset, t.size, room)
		}
		if padding(t.offset, f.alignment) != 0 {
			return fmt.Errorf("tensor %s: offset %d is not a multiple of the alignment %d",
				label(t.name), t.offset, f.alignment)
		}
	}
	order := make([]*info, len(f.infos))
	for i := range order {
		order[i] = &f.infos[i]
	}
	slices.SortFunc(order, func(a, b *info) int { return cmp.Compare(a.offset, b.offset) })
	for i := 1; i < len(order); i++ {
		last, t := order[i-1], order[i]
		if end := last.offset + last.size; t.offset < end {
			return fmt.Errorf("tensor %s: offset %d overlaps tensor %s, which ends at %d",
				label(t.name), t.offset, label(last.name), end)
		}
	}
	return nil
}

// padding is the number of bytes from n to the next multiple of alignment, a
// power of two.
func padding(n, alignment uint64) uint64 { return -n & (alignment - 1) }
