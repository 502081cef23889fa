//go:build amd64 && !purego

package kernel

// The vector classes replace the operations that take the time: products, weighted
// sums of rows, and in float32 arithmetic the exponentials of attention and GELU.
// Their sums run over lanes: accumulator lane l adds the elements i ≡ l modulo the
// lanes by fused multiply-add, and one tree adds the lanes, so a row's result
// still depends on the row alone. Everything else is the generic code.
// internal/kernel/asmgen writes the assembly.
var (
	avx2Set   = vectorSet(productAVX2, accumulateAVX2, softmaxKeysAVX2, geluRowAVX2)
	avx512Set = vectorSet(productAVX512, accumulateAVX512, softmaxKeysAVX512, geluRowAVX512)
)

// vectorSet is the generic set with these functions in place of its own.
func vectorSet(
	product func(dst []float32, ldd int, x []float32, ldx, rows int, w []float32, n, k int),
	accumulate func(dst []float32, v []float32, ldv int, p []float32),
	softmaxKeys func(p *float32, n int, top float32) float32,
	geluRow func(dst, gate, up *float32, n int),
) *set {
	s := generic
	s.product, s.accumulate = product, accumulate
	s.softmax = func(p []float32, top float32, round Rounding) float32 {
		if round != F32 || len(p) == 0 {
			return softmaxGeneric(p, top, round)
		}
		return softmaxKeys(&p[0], len(p), top)
	}
	s.geluMul = func(dst, gate, up []float32, round Rounding) {
		if round != F32 || len(gate) == 0 {
			geluMulGeneric(dst, gate, up, round)
			return
		}
		_, _ = dst[len(gate)-1], up[len(gate)-1]
		geluRow(&dst[0], &gate[0], &up[0], len(gate))
	}
	return &s
}

// productRows is the number of activation rows that pass over a panel of weights
// together: 64 rows of 2,816 columns are 720 KB, which stay in a second-level
// cache while the weight rows change.
const productRows = 64

// eachTile calls four for every group of four weight rows and one for each of the
// rest, for blocks of productRows activation rows.
func eachTile(dst []float32, ldd int, x []float32, ldx, rows int, w []float32, n, k int,
	four, one func(dst *float32, ldd int, x *float32, ldx, rows int, w *float32, k int)) {
	if rows == 0 || n == 0 {
		return
	}
	if k == 0 {
		for r := range rows {
			clear(dst[r*ldd : r*ldd+n])
		}
		return
	}
	// The assembly reads and writes without looking: the last elements must be
	// there.
	_, _, _ = dst[(rows-1)*ldd+n-1], x[(rows-1)*ldx+k-1], w[n*k-1]
	for first := 0; first < rows; first += productRows {
		count := min(productRows, rows-first)
		d, a := dst[first*ldd:], &x[first*ldx]
		c := 0
		for ; c+4 <= n; c += 4 {
			four(&d[c], ldd, a, ldx, count, &w[c*k], k)
		}
		for ; c < n; c++ {
			one(&d[c], ldd, a, ldx, count, &w[c*k], k)
		}
	}
}

func productAVX2(dst []float32, ldd int, x []float32, ldx, rows int, w []float32, n, k int) {
	eachTile(dst, ldd, x, ldx, rows, w, n, k, product4AVX2, product1AVX2)
}

func productAVX512(dst []float32, ldd int, x []float32, ldx, rows int, w []float32, n, k int) {
	eachTile(dst, ldd, x, ldx, rows, w, n, k, product4AVX512, product1AVX512)
}

func accumulateAVX2(dst []float32, v []float32, ldv int, p []float32) {
	if len(dst) == 0 || len(p) == 0 {
		return
	}
	_ = v[(len(p)-1)*ldv+len(dst)-1]
	accumulateRowsAVX2(&dst[0], len(dst), &v[0], ldv, &p[0], len(p))
}

func accumulateAVX512(dst []float32, v []float32, ldv int, p []float32) {
	if len(dst) == 0 || len(p) == 0 {
		return
	}
	_ = v[(len(p)-1)*ldv+len(dst)-1]
	accumulateRowsAVX512(&dst[0], len(dst), &v[0], ldv, &p[0], len(p))
}

// product4… sets dst[r·ldd+c] = Σ_i x[r·ldx+i]·w[c·k+i] for r < rows, c < 4, and
// product1… for the one weight row w.
//
//go:noescape
func product4AVX2(dst *float32, ldd int, x *float32, ldx, rows int, w *float32, k int)

//go:noescape
func product1AVX2(dst *float32, ldd int, x *float32, ldx, rows int, w *float32, k int)

//go:noescape
func product4AVX512(dst *float32, ldd int, x *float32, ldx, rows int, w *float32, k int)

//go:noescape
func product1AVX512(dst *float32, ldd int, x *float32, ldx, rows int, w *float32, k int)

// accumulateRows… adds p[i]·v[i·ldv+j] to dst[j], j < n, for i = 0 … count-1 in
// this order.
//
//go:noescape
func accumulateRowsAVX2(dst *float32, n int, v *float32, ldv int, p *float32, count int)

//go:noescape
func accumulateRowsAVX512(dst *float32, n int, v *float32, ldv int, p *float32, count int)

// softmaxKeys… replaces p by exp(p-top) and returns the sum. p-top is at most 0.
//
//go:noescape
func softmaxKeysAVX2(p *float32, n int, top float32) (sum float32)

//go:noescape
func softmaxKeysAVX512(p *float32, n int, top float32) (sum float32)

// geluRow… sets dst = GELU(gate)·up for n values.
//
//go:noescape
func geluRowAVX2(dst, gate, up *float32, n int)

//go:noescape
func geluRowAVX512(dst, gate, up *float32, n int)
