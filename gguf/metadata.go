package gguf

import (
	"fmt"
	"math"
)

// KeyValue is one key of the metadata with its value: a uint8, int8, uint16,
// int16, uint32, int32, uint64, int64, float32, float64, bool or string, or a
// slice of one of them.
type KeyValue struct {
	Key   string
	Value any
}

// entry is one key of an open file.
type entry struct {
	key   string
	value value
}

// Keys lists the metadata keys in the order of the file.
func (f *File) Keys() []string {
	keys := make([]string, len(f.entries))
	for i, e := range f.entries {
		keys[i] = e.key
	}
	return keys
}

// Metadata decodes every key and value, in the order of the file.
func (f *File) Metadata() []KeyValue {
	all := make([]KeyValue, len(f.entries))
	for i, e := range f.entries {
		all[i] = KeyValue{e.key, e.value.decode()}
	}
	return all
}

// Has reports whether the metadata has key.
func (f *File) Has(key string) bool {
	_, ok := f.byKey[key]
	return ok
}

// Value decodes the value of key into one of the types of [KeyValue], and
// reports whether there is one.
func (f *File) Value(key string) (any, bool) {
	i, ok := f.byKey[key]
	if !ok {
		return nil, false
	}
	return f.entries[i].value.decode(), true
}

// Architecture is the string under general.architecture.
func (f *File) Architecture() (string, error) { return f.String("general.architecture") }

// Uint returns the value of key, stored as any integer type. Like all getters
// it is an error that names the file and the key when the key is absent, has
// another type, which the error names, or does not fit.
func (f *File) Uint(key string) (uint64, error) {
	v, err := f.find(key, "a whole number", isInteger, false)
	if err != nil {
		return 0, err
	}
	n, signed := integer(v.kind, v.raw)
	if signed && int64(n) < 0 {
		return 0, f.keyError(key, "is %d, below 0", int64(n))
	}
	return n, nil
}

// Int returns the value of key, stored as any integer type.
func (f *File) Int(key string) (int64, error) {
	v, err := f.find(key, "a whole number", isInteger, false)
	if err != nil {
		return 0, err
	}
	n, signed := integer(v.kind, v.raw)
	if !signed && n > math.MaxInt64 {
		return 0, f.keyError(key, "is %d, above %d", n, int64(math.MaxInt64))
	}
	return int64(n), nil
}

// Float returns the value of key, stored as f32 or f64.
func (f *File) Float(key string) (float64, error) {
	v, err := f.find(key, "a float", isFloat, false)
	if err != nil {
		return 0, err
	}
	return float(v.kind, v.raw), nil
}

// Bool returns the value of key, stored as bool.
func (f *File) Bool(key string) (bool, error) {
	v, err := f.find(key, "a bool", isBool, false)
	if err != nil {
		return false, err
	}
	return getBool(v.raw), nil
}

// String returns the value of key, stored as string. The format asks for UTF-8,
// which is not checked.
func (f *File) String(key string) (string, error) {
	v, err := f.find(key, "a string", isString, false)
	if err != nil {
		return "", err
	}
	return string(v.raw), nil
}

// Ints returns the elements of key, stored as an array of any integer type.
func (f *File) Ints(key string) ([]int64, error) {
	v, err := f.find(key, "an array of whole numbers", isInteger, true)
	if err != nil {
		return nil, err
	}
	out := make([]int64, v.count)
	size := kinds[v.elem].size
	for i := range out {
		n, signed := integer(v.elem, v.raw[i*size:])
		if !signed && n > math.MaxInt64 {
			return nil, f.keyError(key, "element %d is %d, above %d", i, n, int64(math.MaxInt64))
		}
		out[i] = int64(n)
	}
	return out, nil
}

// Floats returns the elements of key, stored as an array of f32 or f64.
func (f *File) Floats(key string) ([]float64, error) {
	v, err := f.find(key, "an array of floats", isFloat, true)
	if err != nil {
		return nil, err
	}
	return list(v, func(b []byte) float64 { return float(v.elem, b) }), nil
}

// Bools returns the elements of key, stored as an array of bool.
func (f *File) Bools(key string) ([]bool, error) {
	v, err := f.find(key, "an array of bools", isBool, true)
	if err != nil {
		return nil, err
	}
	return list(v, getBool), nil
}

// Strings returns the elements of key, stored as an array of strings.
func (f *File) Strings(key string) ([]string, error) {
	v, err := f.find(key, "an array of strings", isString, true)
	if err != nil {
		return nil, err
	}
	return v.texts(), nil
}

// find returns the value of key when it is a scalar, or for array an array, of
// a kind that fits.
func (f *File) find(key, want string, fits func(kind) bool, array bool) (value, error) {
	i, ok := f.byKey[key]
	if !ok {
		return value{}, f.keyError(key, "absent")
	}
	v := f.entries[i].value
	k := v.kind
	if array && k == kindArray {
		k = v.elem
	}
	if array != (v.kind == kindArray) || !fits(k) {
		return value{}, f.keyError(key, "is of type %v, not %s", v, want)
	}
	return v, nil
}

func (f *File) keyError(key, format string, args ...any) error {
	return fmt.Errorf("gguf: %s: key %s: %w", f.name, label(key), fmt.Errorf(format, args...))
}

func isBool(k kind) bool   { return k == kindBool }
func isString(k kind) bool { return k == kindString }
func isFloat(k kind) bool  { return k == kindF32 || k == kindF64 }

func isInteger(k kind) bool {
	switch k {
	case kindU8, kindI8, kindU16, kindI16, kindU32, kindI32, kindU64, kindI64:
		return true
	}
	return false
}

// integer widens one integer of kind k to 64 bits and tells whether they are to
// be read as signed.
func integer(k kind, b []byte) (bits uint64, signed bool) {
	switch k {
	case kindU8:
		return uint64(b[0]), false
	case kindU16:
		return uint64(getU16(b)), false
	case kindU32:
		return uint64(getU32(b)), false
	case kindI8:
		return uint64(getI8(b)), true
	case kindI16:
		return uint64(getI16(b)), true
	case kindI32:
		return uint64(getI32(b)), true
	case kindI64:
		return getU64(b), true
	default:
		return getU64(b), false
	}
}

func float(k kind, b []byte) float64 {
	if k == kindF32 {
		return float64(getF32(b))
	}
	return getF64(b)
}
