package main

import "fmt"

// A unit is a vector extension.
type unit struct {
	name string
	// reg is the letter of the registers, lanes their number of float32.
	reg   string
	lanes int
	// rowBlock is the number of activation rows of a product tile: as many as the
	// registers hold with four weight rows, and no more than four.
	rowBlock int
}

var (
	avx2   = unit{"AVX2", "Y", 8, 2}
	avx512 = unit{"AVX512", "Z", 16, 4}
)

// v names vector register i, x and y its lower 128 and 256 bits.
func (u unit) v(i int) string { return fmt.Sprintf("%s%d", u.reg, i) }
func (u unit) x(i int) string { return fmt.Sprintf("X%d", i) }
func (u unit) y(i int) string { return fmt.Sprintf("Y%d", i) }

// bytes is the width of a register.
func (u unit) bytes() int { return 4 * u.lanes }

// zero clears register i.
func (u unit) zero(f *file, i int) {
	if u == avx512 {
		f.op("VPXORQ", u.v(i), u.v(i), u.v(i))
		return
	}
	f.op("VXORPS", u.v(i), u.v(i), u.v(i))
}

// maskRegister holds the mask of the last elements in AVX2, which has no mask
// registers of its own.
const maskRegister = 15

// tailMask prepares the mask of the last n modulo lanes elements. It uses AX and
// CX.
func (u unit) tailMask(f *file, n string) {
	f.op("MOVQ", n, "CX")
	f.op("ANDQ", fmt.Sprintf("$%d", u.lanes-1), "CX")
	if u == avx512 {
		f.op("MOVL", "$1", "AX")
		f.op("SHLL", "CX", "AX")
		f.op("DECL", "AX")
		f.op("KMOVW", "AX", "K1")
		return
	}
	// The table holds eight ones, then eight zeros: n ones end where it turns.
	f.op("LEAQ", "tailMasks<>+32(SB)", "AX")
	f.op("SHLQ", "$2", "CX")
	f.op("SUBQ", "CX", "AX")
	f.op("VMOVUPS", "(AX)", u.v(maskRegister))
}

// load reads a vector, or with masked the last elements and zeros.
func (u unit) load(f *file, address string, i int, masked bool) {
	switch {
	case !masked:
		f.op("VMOVUPS", address, u.v(i))
	case u == avx512:
		f.op("VMOVUPS.Z", address, "K1", u.v(i))
	default:
		f.op("VMASKMOVPS", address, u.v(maskRegister), u.v(i))
	}
}

// store writes what load reads.
func (u unit) store(f *file, i int, address string, masked bool) {
	switch {
	case !masked:
		f.op("VMOVUPS", u.v(i), address)
	case u == avx512:
		f.op("VMOVUPS", u.v(i), "K1", address)
	default:
		f.op("VMASKMOVPS", u.v(i), u.v(maskRegister), address)
	}
}

// tables writes the constants that the unit's functions read.
func (u unit) tables(f *file) {
	if u != avx2 {
		return
	}
	for i := range 16 {
		v := 0xffffffff
		if i >= 8 {
			v = 0
		}
		fmt.Fprintf(&f.b, "DATA tailMasks<>+%d(SB)/4, $%#x\n", 4*i, v)
	}
	f.b.WriteString("GLOBL tailMasks<>(SB), RODATA|NOPTR, $64\n")
}
