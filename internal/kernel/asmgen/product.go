package main

import "fmt"

// product generates, for n = 4 and n = 1 weight rows,
//
//	func product{n}{unit}(dst *float32, ldd int, x *float32, ldx, rows int, w *float32, k int)
//
// which sets dst[r·ldd+c] = Σ_i x[r·ldx+i]·w[c·k+i] for r < rows and c < n. Each
// sum has an accumulator register of its own: lane l adds the elements i ≡ l
// modulo the number of lanes by fused multiply-add, the last vector padded with
// zeros. Then the lanes are added by one tree (see reduce). How many rows are
// taken at a time changes nothing in a row's own sum.
func product(u unit) string {
	f := newFile(fmt.Sprintf("Products of activation rows with weight rows, %s.", u.name))
	u.tables(f)
	for _, n := range []int{4, 1} {
		p := productKernel{f, u, n}
		p.function()
	}
	return f.b.String()
}

// productKernel emits the function for n weight rows. Registers:
//
//	DI R8      dst and its row length in bytes
//	SI R9 R14  x at the current position, its row length, three times that
//	DX R11 R15 w at the current position, its row length, three times that
//	R10        rows left
//	R12        bytes of a row in whole vectors
//	CX AX      bytes done, scratch
type productKernel struct {
	*file
	u unit
	n int
}

func (p productKernel) function() {
	p.text(fmt.Sprintf("product%d%s", p.n, p.u.name), 56)
	p.arg("dst", 0, "DI")
	p.arg("ldd", 8, "R8")
	p.arg("x", 16, "SI")
	p.arg("ldx", 24, "R9")
	p.arg("rows", 32, "R10")
	p.arg("w", 40, "DX")
	p.arg("k", 48, "R11")
	p.u.tailMask(p.file, "R11")
	p.op("SHLQ", "$2", "R8")
	p.op("SHLQ", "$2", "R9")
	p.op("SHLQ", "$2", "R11")
	p.op("LEAQ", "(R9)(R9*2)", "R14")
	p.op("LEAQ", "(R11)(R11*2)", "R15")
	p.op("MOVQ", "R11", "R12")
	p.op("ANDQ", fmt.Sprintf("$-%d", p.u.bytes()), "R12")
	p.label("block")
	p.op("CMPQ", "R10", fmt.Sprintf("$%d", p.u.rowBlock))
	p.op("JLT", "single")
	p.tile(p.u.rowBlock, "block")
	p.label("single")
	p.op("TESTQ", "R10", "R10")
	p.op("JEQ", "done")
	p.tile(1, "single")
	p.label("done")
	p.op("VZEROUPPER")
	p.op("RET")
}

// tile computes rows × n sums, stores them and goes back to the label.
func (p productKernel) tile(rows int, back string) {
	for i := range rows * p.n {
		p.u.zero(p.file, i)
	}
	p.op("XORQ", "CX", "CX")
	p.op("CMPQ", "CX", "R12")
	p.op("JEQ", back+"Tail")
	p.label(back + "Loop")
	p.step(rows, false)
	p.op("ADDQ", fmt.Sprintf("$%d", p.u.bytes()), "SI")
	p.op("ADDQ", fmt.Sprintf("$%d", p.u.bytes()), "DX")
	p.op("ADDQ", fmt.Sprintf("$%d", p.u.bytes()), "CX")
	p.op("CMPQ", "CX", "R12")
	p.op("JLT", back+"Loop")
	p.label(back + "Tail")
	p.op("CMPQ", "CX", "R11")
	p.op("JEQ", back+"Sum")
	p.step(rows, true)
	p.label(back + "Sum")
	p.op("SUBQ", "R12", "SI")
	p.op("SUBQ", "R12", "DX")
	for r := range rows {
		p.reduce(r, rows)
		p.op("ADDQ", "R8", "DI")
	}
	for range rows {
		p.op("ADDQ", "R9", "SI")
	}
	p.op("SUBQ", fmt.Sprintf("$%d", rows), "R10")
	p.op("JMP", back)
}

// strided is the address of row i of a matrix.
func strided(base, stride, triple string, i int) string {
	return [...]string{
		fmt.Sprintf("(%s)", base), fmt.Sprintf("(%s)(%s*1)", base, stride),
		fmt.Sprintf("(%s)(%s*2)", base, stride), fmt.Sprintf("(%s)(%s*1)", base, triple),
	}[i]
}

// step adds one vector of every row; the last one is masked. Accumulator r·n+c
// belongs to row r and weight row c.
func (p productKernel) step(rows int, masked bool) {
	x := rows * p.n
	w := x + rows
	for r := range rows {
		p.u.load(p.file, strided("SI", "R9", "R14", r), x+r, masked)
	}
	for c := range p.n {
		p.u.load(p.file, strided("DX", "R11", "R15", c), w, masked)
		for r := range rows {
			p.op("VFMADD231PS", p.u.v(x+r), p.u.v(w), p.u.v(r*p.n+c))
		}
	}
}

// reduce adds the lanes of the accumulators of row r and stores the sums. Within
// each 128 bits the order is (l0+l2)+(l1+l3); then the upper half of the register
// is added to the lower one until 128 bits are left. With one weight row the same
// tree runs on four copies of it.
func (p productKernel) reduce(r, rows int) {
	a := [4]int{}
	for c := range a {
		a[c] = r*p.n + min(c, p.n-1)
	}
	t := rows*p.n + rows // registers beyond the accumulators and rows are free
	s, u := p.u.v(t), p.u.v(t+1)
	v := p.u.v
	p.op("VUNPCKLPS", v(a[1]), v(a[0]), s)
	p.op("VUNPCKHPS", v(a[1]), v(a[0]), u)
	p.op("VADDPS", u, s, s) // a0+a2 b0+b2 a1+a3 b1+b3
	p.op("VUNPCKLPS", v(a[3]), v(a[2]), u)
	p.op("VUNPCKHPS", v(a[3]), v(a[2]), v(a[2]))
	p.op("VADDPS", v(a[2]), u, u)
	p.op("VUNPCKLPD", u, s, v(t+2))
	p.op("VUNPCKHPD", u, s, s)
	p.op("VADDPS", s, v(t+2), s) // the sums of a, b, c, d in each 128 bits
	if p.u.lanes == 16 {
		p.op("VEXTRACTF64X4", "$1", s, p.u.y(t+1))
		p.op("VADDPS", p.u.y(t+1), p.u.y(t), p.u.y(t))
	}
	extract := "VEXTRACTF128"
	if p.u == avx512 {
		extract = "VEXTRACTF32X4" // reaches the registers from 16 on
	}
	p.op(extract, "$1", p.u.y(t), p.u.x(t+1))
	p.op("VADDPS", p.u.x(t+1), p.u.x(t), p.u.x(t))
	if p.n == 4 {
		p.op("VMOVUPS", p.u.x(t), "(DI)")
		return
	}
	p.op("VMOVSS", p.u.x(t), "(DI)")
}
