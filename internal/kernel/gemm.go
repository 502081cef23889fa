package kernel

// panelRows is the number of weight rows that are unpacked together: one work
// item of a product. 32 rows of 2,816 columns are 360 KB of float32, which stays
// in a second-level cache while all activation rows pass over it.
const panelRows = 32

// Linear computes dst = x·Wᵀ, rounded: x is [rows × w.Cols], dst is
// [rows × w.Rows]. Accumulation is in float32 over ascending columns.
func (t *Team) Linear(dst, x []float32, rows int, w Matrix, round Rounding) {
	if rows == 0 {
		return
	}
	t.pool.Run((w.Rows+panelRows-1)/panelRows, func(worker, item int) {
		first := item * panelRows
		n := min(panelRows, w.Rows-first)
		panel := grow(&t.scratch[worker].panel, panelRows*w.Cols)
		w.unpack(panel, first, n, round)
		t.set.product(dst[first:], w.Rows, x, w.Cols, rows, panel, n, w.Cols)
		roundBlock(dst[first:], w.Rows, rows, n, round)
	})
}

// LinearGrouped computes one product per group of rows with a matrix of its own:
// dst rows offsets[g] … offsets[g+1]-1 are those rows of x times the transpose of
// matrix g, which is rows g·n … (g+1)·n-1 of w. Each weight panel is unpacked
// once for its whole group, and not at all for an empty one.
func (t *Team) LinearGrouped(dst, x []float32, offsets []int, w Matrix, n int, round Rounding) {
	groups := len(offsets) - 1
	panels := (n + panelRows - 1) / panelRows
	t.pool.Run(groups*panels, func(worker, item int) {
		g, first := item/panels, item%panels*panelRows
		lo, hi := offsets[g], offsets[g+1]
		if lo == hi {
			return
		}
		k := min(panelRows, n-first)
		panel := grow(&t.scratch[worker].panel, panelRows*w.Cols)
		w.unpack(panel, g*n+first, k, round)
		out := dst[lo*n+first:]
		t.set.product(out, n, x[lo*w.Cols:], w.Cols, hi-lo, panel, k, w.Cols)
		roundBlock(out, n, hi-lo, k, round)
	})
}

// roundBlock rounds n columns of rows of a matrix with ldd columns.
func roundBlock(dst []float32, ldd, rows, n int, round Rounding) {
	if round == F32 {
		return
	}
	for r := range rows {
		round.slice(dst[r*ldd : r*ldd+n])
	}
}

// productGeneric sets dst[r·ldd+c] = Σ_i x[r·ldx+i]·w[c·k+i] for r < rows, c < n,
// i < k, each sum over ascending i in one float32 accumulator.
func productGeneric(dst []float32, ldd int, x []float32, ldx, rows int, w []float32, n, k int) {
	c := 0
	for ; c+4 <= n; c += 4 {
		w0, w1, w2, w3 := w[c*k:(c+1)*k], w[(c+1)*k:(c+2)*k], w[(c+2)*k:(c+3)*k], w[(c+3)*k:(c+4)*k]
		r := 0
		for ; r+2 <= rows; r += 2 {
			a := dst[r*ldd+c : r*ldd+c+4]
			b := dst[(r+1)*ldd+c : (r+1)*ldd+c+4]
			product2x4((*[4]float32)(a), (*[4]float32)(b), x[r*ldx:r*ldx+k], x[(r+1)*ldx:(r+1)*ldx+k], w0, w1, w2, w3)
		}
		if r < rows {
			a := dst[r*ldd+c : r*ldd+c+4]
			product1x4((*[4]float32)(a), x[r*ldx:r*ldx+k], w0, w1, w2, w3)
		}
	}
	for ; c < n; c++ {
		wc := w[c*k : (c+1)*k]
		for r := range rows {
			dst[r*ldd+c] = dot(x[r*ldx:r*ldx+k], wc)
		}
	}
}

// product2x4 keeps eight sums in registers: two activation rows by four weight
// rows, so that six loads feed eight products.
func product2x4(a, b *[4]float32, x0, x1, w0, w1, w2, w3 []float32) {
	x1, w0, w1, w2, w3 = x1[:len(x0)], w0[:len(x0)], w1[:len(x0)], w2[:len(x0)], w3[:len(x0)]
	var a0, a1, a2, a3, b0, b1, b2, b3 float32
	for i, p := range x0 {
		q := x1[i]
		v := w0[i]
		a0 += float32(p * v)
		b0 += float32(q * v)
		v = w1[i]
		a1 += float32(p * v)
		b1 += float32(q * v)
		v = w2[i]
		a2 += float32(p * v)
		b2 += float32(q * v)
		v = w3[i]
		a3 += float32(p * v)
		b3 += float32(q * v)
	}
	*a = [4]float32{a0, a1, a2, a3}
	*b = [4]float32{b0, b1, b2, b3}
}

func product1x4(a *[4]float32, x0, w0, w1, w2, w3 []float32) {
	w0, w1, w2, w3 = w0[:len(x0)], w1[:len(x0)], w2[:len(x0)], w3[:len(x0)]
	var a0, a1, a2, a3 float32
	for i, p := range x0 {
		a0 += float32(p * w0[i])
		a1 += float32(p * w1[i])
		a2 += float32(p * w2[i])
		a3 += float32(p * w3[i])
	}
	*a = [4]float32{a0, a1, a2, a3}
}

func dot(x, w []float32) float32 {
	w = w[:len(x)]
	var s float32
	for i, p := range x {
		s += float32(p * w[i])
	}
	return s
}

// accumulateGeneric adds rows of v, each times its factor, to dst: dst[j] +=
// p[0]·v[j], then += p[1]·v[ldv+j] … in this order for every j.
func accumulateGeneric(dst []float32, v []float32, ldv int, p []float32) {
	n := len(dst)
	i := 0
	for ; i+4 <= len(p); i += 4 {
		v0, v1 := v[i*ldv:i*ldv+n], v[(i+1)*ldv:(i+1)*ldv+n]
		v2, v3 := v[(i+2)*ldv:(i+2)*ldv+n], v[(i+3)*ldv:(i+3)*ldv+n]
		p0, p1, p2, p3 := p[i], p[i+1], p[i+2], p[i+3]
		for j, s := range dst {
			s += float32(p0 * v0[j])
			s += float32(p1 * v1[j])
			s += float32(p2 * v2[j])
			s += float32(p3 * v3[j])
			dst[j] = s
		}
	}
	for ; i < len(p); i++ {
		f, row := p[i], v[i*ldv:i*ldv+n]
		for j, s := range dst {
			dst[j] = s + float32(f*row[j])
		}
	}
}
