package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// kind is the type of a metadata value, numbered as in a file.
type kind uint32

const (
	kindU8 kind = iota
	kindI8
	kindU16
	kindI16
	kindU32
	kindI32
	kindF32
	kindBool
	kindString
	kindArray
	kindU64
	kindI64
	kindF64
	kindEnd
)

// kinds holds the name of every kind and the bytes of one value, 0 where they
// vary.
var kinds = [kindEnd]struct {
	name string
	size int
}{
	kindU8:     {"u8", 1},
	kindI8:     {"i8", 1},
	kindU16:    {"u16", 2},
	kindI16:    {"i16", 2},
	kindU32:    {"u32", 4},
	kindI32:    {"i32", 4},
	kindF32:    {"f32", 4},
	kindBool:   {"bool", 1},
	kindString: {"string", 0},
	kindArray:  {"array", 0},
	kindU64:    {"u64", 8},
	kindI64:    {"i64", 8},
	kindF64:    {"f64", 8},
}

// value is one metadata value as a view of the file, already checked.
type value struct {
	kind  kind
	elem  kind   // of an array
	count int    // of an array
	raw   []byte // content without type and length; strings of an array keep their lengths
}

func (v value) String() string {
	if v.kind == kindArray {
		return "array of " + kinds[v.elem].name
	}
	return kinds[v.kind].name
}

// readValue reads and checks a value with its type in front.
func readValue(c *cursor) (value, error) {
	k, err := readKind(c)
	if err != nil {
		return value{}, err
	}
	v := value{kind: k}
	switch k {
	case kindArray:
		return readArray(c)
	case kindString:
		v.raw, err = c.text("the value")
	default:
		at := c.at
		if v.raw, err = c.take(kinds[k].size, "the value"); err == nil && k == kindBool {
			err = checkBools(v.raw, at)
		}
	}
	return v, err
}

func readKind(c *cursor) (kind, error) {
	at := c.at
	n, err := c.u32("the value type")
	if err != nil {
		return 0, err
	}
	if kind(n) >= kindEnd {
		return 0, errorf(at, "unknown value type %d", n)
	}
	return kind(n), nil
}

func readArray(c *cursor) (value, error) {
	at := c.at
	elem, err := readKind(c)
	if err != nil {
		return value{}, err
	}
	if elem == kindArray {
		return value{}, errorf(at, "nested arrays are not supported")
	}
	at = c.at
	n, err := c.u64("the array length")
	if err != nil {
		return value{}, err
	}
	size := kinds[elem].size
	if elem == kindString {
		size = 8 // each string has at least its length
	}
	if room := c.left() / size; n > uint64(room) {
		return value{}, errorf(at, "array length %d of %s: only %s follow", n, kinds[elem].name, count(c.left(), "byte"))
	}
	v := value{kind: kindArray, elem: elem, count: int(n)}
	start := c.at
	if elem == kindString {
		for i := range v.count {
			if _, err := c.text("a string"); err != nil {
				return value{}, fmt.Errorf("element %d: %w", i, err)
			}
		}
	} else if _, err := c.take(v.count*size, "the array"); err != nil {
		return value{}, err
	}
	v.raw = c.file[start:c.at]
	if elem == kindBool {
		err = checkBools(v.raw, start)
	}
	return v, err
}

func checkBools(raw []byte, at int) error {
	for i, b := range raw {
		if b > 1 {
			return errorf(at+i, "bool is %d, not 0 or 1", b)
		}
	}
	return nil
}

// decode returns the value as the Go type of the same width.
func (v value) decode() any {
	if v.kind != kindArray {
		switch v.kind {
		case kindU8:
			return v.raw[0]
		case kindI8:
			return getI8(v.raw)
		case kindU16:
			return getU16(v.raw)
		case kindI16:
			return getI16(v.raw)
		case kindU32:
			return getU32(v.raw)
		case kindI32:
			return getI32(v.raw)
		case kindF32:
			return getF32(v.raw)
		case kindBool:
			return getBool(v.raw)
		case kindU64:
			return getU64(v.raw)
		case kindI64:
			return getI64(v.raw)
		case kindF64:
			return getF64(v.raw)
		default:
			return string(v.raw)
		}
	}
	switch v.elem {
	case kindU8:
		return append([]uint8{}, v.raw...)
	case kindI8:
		return list(v, getI8)
	case kindU16:
		return list(v, getU16)
	case kindI16:
		return list(v, getI16)
	case kindU32:
		return list(v, getU32)
	case kindI32:
		return list(v, getI32)
	case kindF32:
		return list(v, getF32)
	case kindBool:
		return list(v, getBool)
	case kindU64:
		return list(v, getU64)
	case kindI64:
		return list(v, getI64)
	case kindF64:
		return list(v, getF64)
	default:
		return v.texts()
	}
}

// list decodes an array of numbers with get.
func list[T any](v value, get func([]byte) T) []T {
	out := make([]T, v.count)
	size := kinds[v.elem].size
	for i := range out {
		out[i] = get(v.raw[i*size:])
	}
	return out
}

// texts decodes an array of strings. They share one copy of the bytes.
func (v value) texts() []string {
	out := make([]string, v.count)
	all := string(v.raw)
	at := 0
	for i := range out {
		n := int(getU64(v.raw[at:]))
		out[i] = all[at+8 : at+8+n]
		at += 8 + n
	}
	return out
}

func getI8(b []byte) int8     { return int8(b[0]) }
func getU16(b []byte) uint16  { return binary.LittleEndian.Uint16(b) }
func getI16(b []byte) int16   { return int16(getU16(b)) }
func getU32(b []byte) uint32  { return binary.LittleEndian.Uint32(b) }
func getI32(b []byte) int32   { return int32(getU32(b)) }
func getF32(b []byte) float32 { return math.Float32frombits(getU32(b)) }
func getBool(b []byte) bool   { return b[0] != 0 }
func getU64(b []byte) uint64  { return binary.LittleEndian.Uint64(b) }
func getI64(b []byte) int64   { return int64(getU64(b)) }
func getF64(b []byte) float64 { return math.Float64frombits(getU64(b)) }
