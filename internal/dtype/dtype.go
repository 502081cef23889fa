package dtype

import "fmt"

// Type is the type of one tensor element. The zero value is not a type.
type Type uint8

// The element types of the safetensors format, by rising width. Of the 8-bit
// floats F8E4M3 is the "fn" variant of OCP (no infinities, largest 448), the
// FNUZ variants have no negative zero, and F8E8M0 holds powers of two only.
const (
	Invalid Type = iota
	F4           // OCP e2m1, two elements a byte
	F6E2M3
	F6E3M2
	BOOL
	U8
	I8
	F8E4M3
	F8E5M2
	F8E8M0
	F8E4M3FNUZ
	F8E5M2FNUZ
	U16
	I16
	F16
	BF16
	U32
	I32
	F32
	U64
	I64
	F64
	C64 // two float32: real, imaginary
	end
)

var facts = [end]struct {
	name string
	bits int
}{
	Invalid:    {"invalid", 0},
	F4:         {"F4", 4},
	F6E2M3:     {"F6_E2M3", 6},
	F6E3M2:     {"F6_E3M2", 6},
	BOOL:       {"BOOL", 8},
	U8:         {"U8", 8},
	I8:         {"I8", 8},
	F8E4M3:     {"F8_E4M3", 8},
	F8E5M2:     {"F8_E5M2", 8},
	F8E8M0:     {"F8_E8M0", 8},
	F8E4M3FNUZ: {"F8_E4M3FNUZ", 8},
	F8E5M2FNUZ: {"F8_E5M2FNUZ", 8},
	U16:        {"U16", 16},
	I16:        {"I16", 16},
	F16:        {"F16", 16},
	BF16:       {"BF16", 16},
	U32:        {"U32", 32},
	I32:        {"I32", 32},
	F32:        {"F32", 32},
	U64:        {"U64", 64},
	I64:        {"I64", 64},
	F64:        {"F64", 64},
	C64:        {"C64", 64},
}

var byName = func() map[string]Type {
	m := make(map[string]Type, end)
	for t := Invalid + 1; t < end; t++ {
		m[facts[t].name] = t
	}
	return m
}()

// Parse returns the type that safetensors spells name. Case matters.
func Parse(name string) (Type, error) {
	t, ok := byName[name]
	if !ok {
		return Invalid, fmt.Errorf("unknown dtype %q", name)
	}
	return t, nil
}

// Bits is the width of one element in bits, 0 for what is not a type. It is
// below 8 for F4, F6E2M3 and F6E3M2, which are packed without gaps.
func (t Type) Bits() int {
	if t >= end {
		return 0
	}
	return facts[t].bits
}

// String is the safetensors spelling.
func (t Type) String() string {
	if t >= end {
		return fmt.Sprintf("invalid(%d)", uint8(t))
	}
	return facts[t].name
}
