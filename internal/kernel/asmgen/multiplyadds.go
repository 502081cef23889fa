package main

import "fmt"

// multiplyAddsAccumulators is the number of sums of multiplyAdds: enough to keep
// two units of a latency of four to six cycles busy.
const multiplyAddsAccumulators = 12

// multiplyAdds generates
//
//	func multiplyAdds{unit}(rounds int, f float32) (sum float32)
//
// which replaces every sum s by s·f+f, rounds times, on registers alone, and
// returns the first lanes of the sums, added. rounds is at least 1.
func multiplyAdds(u unit) string {
	f := newFile(fmt.Sprintf("Multiply-adds on registers alone, %s.", u.name))
	f.text("multiplyAdds"+u.name, 20)
	f.arg("rounds", 0, "CX")
	factor := multiplyAddsAccumulators
	f.op("VBROADCASTSS", "f+8(FP)", u.v(factor))
	for i := range multiplyAddsAccumulators {
		u.zero(f, i)
	}
	f.label("loop")
	for i := range multiplyAddsAccumulators {
		f.op("VFMADD213PS", u.v(factor), u.v(factor), u.v(i))
	}
	f.op("DECQ", "CX")
	f.op("JNE", "loop")
	for i := 1; i < multiplyAddsAccumulators; i++ {
		f.op("VADDPS", u.v(i), u.v(0), u.v(0))
	}
	f.op("VMOVSS", u.x(0), "sum+16(FP)")
	f.op("VZEROUPPER")
	f.op("RET")
	return f.b.String()
}
