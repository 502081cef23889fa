package main

import "fmt"

// accumulate generates
//
//	func accumulateRows{unit}(dst *float32, n int, v *float32, ldv int, p *float32, count int)
//
// which adds p[i]·v[i·ldv+j] to dst[j] for i = 0 … count-1 in this order, by
// fused multiply-add. The sums of a block of columns stay in registers.
func accumulate(u unit) string {
	f := newFile(fmt.Sprintf("Weighted sums of rows, %s.", u.name))
	u.tables(f)
	k := accumulateKernel{f, u}
	k.text("accumulateRows"+u.name, 48)
	k.arg("dst", 0, "DI")
	k.arg("n", 8, "R10")
	k.arg("v", 16, "SI")
	k.arg("ldv", 24, "R9")
	k.arg("p", 32, "DX")
	k.arg("count", 40, "R11")
	k.u.tailMask(k.file, "R10")
	k.op("SHLQ", "$2", "R9")
	k.columns(4, "four", "one", false)
	k.columns(1, "one", "tail", false)
	k.label("tail")
	k.op("TESTQ", "R10", "R10")
	k.op("JEQ", "done")
	k.block(1, "last", true)
	k.label("done")
	k.op("VZEROUPPER")
	k.op("RET")
	return f.b.String()
}

// accumulateKernel uses DI dst, R10 columns left, SI v, R9 its row length in
// bytes, DX p, R11 count; AX row, BX p, CX rows left.
type accumulateKernel struct {
	*file
	u unit
}

// columns takes blocks of some vectors of columns while there are as many.
func (k accumulateKernel) columns(vectors int, label, next string, masked bool) {
	k.label(label)
	k.op("CMPQ", "R10", fmt.Sprintf("$%d", vectors*k.u.lanes))
	k.op("JLT", next)
	k.block(vectors, label, masked)
	k.op("ADDQ", fmt.Sprintf("$%d", vectors*k.u.bytes()), "DI")
	k.op("ADDQ", fmt.Sprintf("$%d", vectors*k.u.bytes()), "SI")
	k.op("SUBQ", fmt.Sprintf("$%d", vectors*k.u.lanes), "R10")
	k.op("JMP", label)
}

func (k accumulateKernel) block(vectors int, label string, masked bool) {
	factor, row := vectors, vectors+1
	at := func(base string, i int) string { return fmt.Sprintf("%d(%s)", i*k.u.bytes(), base) }
	for i := range vectors {
		k.u.load(k.file, at("DI", i), i, masked)
	}
	k.op("MOVQ", "SI", "AX")
	k.op("MOVQ", "DX", "BX")
	k.op("MOVQ", "R11", "CX")
	k.op("TESTQ", "CX", "CX")
	k.op("JEQ", label+"Store")
	k.label(label + "Loop")
	k.op("VBROADCASTSS", "(BX)", k.u.v(factor))
	for i := range vectors {
		if masked {
			k.u.load(k.file, at("AX", i), row, true)
			k.op("VFMADD231PS", k.u.v(row), k.u.v(factor), k.u.v(i))
			continue
		}
		k.op("VFMADD231PS", at("AX", i), k.u.v(factor), k.u.v(i))
	}
	k.op("ADDQ", "R9", "AX")
	k.op("ADDQ", "$4", "BX")
	k.op("DECQ", "CX")
	k.op("JNE", label+"Loop")
	k.label(label + "Store")
	for i := range vectors {
		k.u.store(k.file, i, at("DI", i), masked)
	}
}
