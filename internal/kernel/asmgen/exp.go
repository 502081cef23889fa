package main

import "fmt"

// A constant is a float32 that the elementwise functions read from a table, where
// each is repeated for a whole register. The table is called elementwise.
type constant struct {
	name  string
	value string
}

// constants lists the numbers of exp32 and tanh32 in internal/kernel/math.go, in
// the order of the table.
var constants = []constant{
	{"log2e", "1.44269504088896341"},
	{"ln2Hi", "0.693359375"},
	{"ln2Lo", "-2.12194440054690e-4"},
	{"e0", "1.9875691500e-4"},
	{"e1", "1.3981999507e-3"},
	{"e2", "8.3334519073e-3"},
	{"e3", "4.1665795894e-2"},
	{"e4", "1.6666665459e-1"},
	{"e5", "5.0000001201e-1"},
	{"one", "1.0"},
	{"lowest", "-103.97208"},
	{"half", "0.5"},
	{"two", "2.0"},
	{"sqrt2pi", "0.7978845608028654"},
	{"cubic", "0.044715"},
	{"border", "0.625"},
	{"most", "10.0"},
	{"t0", "-5.70498872745e-3"},
	{"t1", "2.06390887954e-2"},
	{"t2", "-5.37397155531e-2"},
	{"t3", "1.33314442036e-1"},
	{"t4", "-3.33332819422e-1"},
	{"sign", "-0.0"},
	{"bias", "127"}, // an integer
}

// constantBytes is the room of one constant: the widest register.
const constantBytes = 64

// at is the address of a constant.
func at(name string) string {
	for i, c := range constants {
		if c.name == name {
			return fmt.Sprintf("elementwise<>+%d(SB)", i*constantBytes)
		}
	}
	panic("asmgen: no constant " + name)
}

// constantTable writes the table.
func constantTable(f *file) {
	for i, c := range constants {
		for lane := range constantBytes / 4 {
			value := fmt.Sprintf("$%s", c.value)
			switch c.name {
			case "sign":
				value = "$0x80000000"
			case "bias":
			default:
				value = fmt.Sprintf("$(%s)", c.value)
			}
			fmt.Fprintf(&f.b, "DATA elementwise<>+%d(SB)/4, %s\n", i*constantBytes+4*lane, value)
		}
	}
	fmt.Fprintf(&f.b, "GLOBL elementwise<>(SB), RODATA|NOPTR, $%d\n", len(constants)*constantBytes)
}

// exp emits e^x of register x into register y: x = n·ln 2 + r, e^r by a polynomial,
// times 2^n, as exp32 does, with fused multiply-adds. x keeps its value; n, r and t
// are overwritten. Where x is below -103.97 the result is not zero yet: see
// keepFrom.
func (u unit) exp(f *file, x, y, n, r, t int) {
	v := u.v
	f.op("VMULPS", at("log2e"), v(x), v(n))
	if u == avx512 {
		f.op("VRNDSCALEPS", "$0", v(n), v(n))
	} else {
		f.op("VROUNDPS", "$0", v(n), v(n))
	}
	f.op("VMOVAPS", v(x), v(r))
	f.op("VFNMADD231PS", at("ln2Hi"), v(n), v(r))
	f.op("VFNMADD231PS", at("ln2Lo"), v(n), v(r))
	f.op("VMOVUPS", at("e0"), v(y))
	for _, c := range []string{"e1", "e2", "e3", "e4", "e5"} {
		f.op("VFMADD213PS", at(c), v(r), v(y))
	}
	f.op("VMULPS", v(r), v(y), v(y))
	f.op("VFMADD213PS", v(r), v(r), v(y))
	f.op("VADDPS", at("one"), v(y), v(y))
	if u == avx512 {
		f.op("VSCALEFPS", v(n), v(y), v(y))
		return
	}
	// 2^n in two factors, so that subnormal results come out.
	f.op("VCVTPS2DQ", v(n), v(n))
	f.op("VPSRAD", "$1", v(n), v(t))
	f.op("VPSUBD", v(t), v(n), v(n))
	for _, part := range []int{n, t} {
		f.op("VPADDD", at("bias"), v(part), v(part))
		f.op("VPSLLD", "$23", v(part), v(part))
		f.op("VMULPS", v(part), v(y), v(y))
	}
}

// keepFrom clears the lanes of y whose x is below the constant, and with masked
// those beyond the last element. t is overwritten. NaN is kept.
func (u unit) keepFrom(f *file, x, y, t int, name string, masked bool) {
	const notLess = "$5"
	if u == avx512 {
		f.op("VCMPPS", notLess, at(name), u.v(x), "K2")
		if masked {
			f.op("KANDW", "K1", "K2", "K2")
		}
		f.op("VMOVAPS.Z", u.v(y), "K2", u.v(y))
		return
	}
	f.op("VCMPPS", notLess, at(name), u.v(x), u.v(t))
	f.op("VANDPS", u.v(t), u.v(y), u.v(y))
	if masked {
		f.op("VANDPS", u.v(maskRegister), u.v(y), u.v(y))
	}
}

// chooseLess puts a where x is below the constant, and b elsewhere, into b.
func (u unit) chooseLess(f *file, x, a, b, t int, name string) {
	const less = "$1"
	if u == avx512 {
		f.op("VCMPPS", less, at(name), u.v(x), "K2")
		f.op("VMOVAPS", u.v(a), "K2", u.v(b))
		return
	}
	f.op("VCMPPS", less, at(name), u.v(x), u.v(t))
	f.op("VBLENDVPS", u.v(t), u.v(a), u.v(b), u.v(b))
}

// and, xor and or name the bitwise instructions on whole registers.
func (u unit) bits(f *file, op string, a string, b, dst int) {
	if u == avx512 {
		f.op("VP"+op+"D", a, u.v(b), u.v(dst))
		return
	}
	f.op("V"+op+"PS", a, u.v(b), u.v(dst))
}
