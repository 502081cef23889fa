package main

import "fmt"

// elementwise generates
//
//	func softmaxKeys{unit}(p *float32, n int, top float32) (sum float32)
//	func geluRow{unit}(dst, gate, up *float32, n int)
//
// The first replaces p by exp(p-top) and adds the results up: lane l adds the
// elements i ≡ l modulo the number of lanes, one tree adds the lanes. The second
// sets dst = GELU(gate)·up. An element's result depends on it alone.
func elementwise(u unit) string {
	f := newFile(fmt.Sprintf("Exponentials and GELU, %s.", u.name))
	u.tables(f)
	constantTable(f)
	k := elementwiseKernel{f, u}
	k.softmax()
	k.gelu()
	return f.b.String()
}

type elementwiseKernel struct {
	*file
	u unit
}

// eachVector runs body for all whole vectors of R10 elements and for the rest.
func (k elementwiseKernel) eachVector(pointers []string, body func(masked bool)) {
	k.label("loop")
	k.op("CMPQ", "R10", fmt.Sprintf("$%d", k.u.lanes))
	k.op("JLT", "rest")
	body(false)
	for _, p := range pointers {
		k.op("ADDQ", fmt.Sprintf("$%d", k.u.bytes()), p)
	}
	k.op("SUBQ", fmt.Sprintf("$%d", k.u.lanes), "R10")
	k.op("JMP", "loop")
	k.label("rest")
	k.op("TESTQ", "R10", "R10")
	k.op("JEQ", "done")
	body(true)
	k.label("done")
}

func (k elementwiseKernel) softmax() {
	k.text("softmaxKeys"+k.u.name, 28)
	k.arg("p", 0, "DI")
	k.arg("n", 8, "R10")
	k.u.tailMask(k.file, "R10")
	const x, y, n, r, t, top, sum = 0, 1, 2, 3, 4, 5, 6
	v := k.u.v
	k.op("VBROADCASTSS", "top+16(FP)", v(top))
	k.u.zero(k.file, sum)
	k.eachVector([]string{"DI"}, func(masked bool) {
		k.u.load(k.file, "(DI)", x, masked)
		k.op("VSUBPS", v(top), v(x), v(x))
		k.u.exp(k.file, x, y, n, r, t)
		k.u.keepFrom(k.file, x, y, t, "lowest", masked)
		k.op("VADDPS", v(y), v(sum), v(sum))
		k.u.store(k.file, y, "(DI)", masked)
	})
	if k.u.lanes == 16 {
		k.op("VEXTRACTF64X4", "$1", v(sum), k.u.y(x))
		k.op("VADDPS", k.u.y(x), k.u.y(sum), k.u.y(sum))
	}
	k.op("VEXTRACTF128", "$1", k.u.y(sum), k.u.x(x))
	k.op("VADDPS", k.u.x(x), k.u.x(sum), k.u.x(sum))
	k.op("VMOVHLPS", k.u.x(sum), k.u.x(sum), k.u.x(x))
	k.op("VADDPS", k.u.x(x), k.u.x(sum), k.u.x(sum))
	k.op("VMOVSHDUP", k.u.x(sum), k.u.x(x))
	k.op("VADDSS", k.u.x(x), k.u.x(sum), k.u.x(sum))
	k.op("VMOVSS", k.u.x(sum), "sum+24(FP)")
	k.op("VZEROUPPER")
	k.op("RET")
}

func (k elementwiseKernel) gelu() {
	k.text("geluRow"+k.u.name, 32)
	k.arg("dst", 0, "DI")
	k.arg("gate", 8, "SI")
	k.arg("up", 16, "DX")
	k.arg("n", 24, "R10")
	k.u.tailMask(k.file, "R10")
	const x, u, a, small, big, n, r, t, e = 0, 1, 2, 3, 4, 5, 6, 7, 8
	v := k.u.v
	k.eachVector([]string{"DI", "SI", "DX"}, func(masked bool) {
		k.u.load(k.file, "(SI)", x, masked)
		k.op("VMULPS", v(x), v(x), v(u))
		k.op("VMULPS", v(x), v(u), v(u))
		k.op("VMOVAPS", v(x), v(a))
		k.op("VFMADD231PS", at("cubic"), v(u), v(a))
		k.op("VMULPS", at("sqrt2pi"), v(a), v(u)) // the argument of tanh
		k.op("VMOVUPS", at("sign"), v(t))
		k.u.bits(k.file, "ANDN", v(u), t, a) // its absolute value

		// Below 0.625 a polynomial in the square.
		k.op("VMULPS", v(a), v(a), v(r))
		k.op("VMOVUPS", at("t0"), v(small))
		for _, c := range []string{"t1", "t2", "t3", "t4"} {
			k.op("VFMADD213PS", at(c), v(r), v(small))
		}
		k.op("VMULPS", v(r), v(small), v(small))
		k.op("VFMADD213PS", v(a), v(a), v(small))

		// Else 1 - 2/(exp(2a)+1), which is 1 from 10 on.
		k.op("VMINPS", at("most"), v(a), v(e))
		k.op("VADDPS", v(e), v(e), v(e))
		k.u.exp(k.file, e, big, n, r, t)
		k.op("VADDPS", at("one"), v(big), v(big))
		k.op("VMOVUPS", at("two"), v(r))
		k.op("VDIVPS", v(big), v(r), v(r))
		k.op("VMOVUPS", at("one"), v(big))
		k.op("VSUBPS", v(r), v(big), v(big))

		k.u.chooseLess(k.file, a, small, big, t, "border")
		k.u.bits(k.file, "AND", at("sign"), u, u)
		k.u.bits(k.file, "OR", v(u), big, big)
		k.op("VADDPS", at("one"), v(big), v(big))
		k.op("VMULPS", at("half"), v(x), v(x))
		k.op("VMULPS", v(x), v(big), v(big))
		k.u.load(k.file, "(DX)", u, masked)
		k.op("VMULPS", v(u), v(big), v(big))
		k.u.store(k.file, big, "(DI)", masked)
	})
	k.op("VZEROUPPER")
	k.op("RET")
}
