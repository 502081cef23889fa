package kernel

import "math"

// RMSNorm computes, for each row of n values, y = x·(mean(x²)+eps)^(-1/2)·w in
// float32 with one rounding at the end (model.md §3.1). w is used as it is; nil
// leaves it out. dst and x may be the same. rows counts rows of len(x)/rows
// values.
func (t *Team) RMSNorm(dst, x, w []float32, rows int, eps float32, round Rounding) {
	n := width(x, rows)
	t.eachRow(rows, func(r int) {
		t.set.rmsNorm(dst[r*n:(r+1)*n], x[r*n:(r+1)*n], w, eps, round)
	})
}

// width is the length of one of the rows that make up x.
func width(x []float32, rows int) int {
	if rows == 0 {
		return 0
	}
	return len(x) / rows
}

// rmsNormGeneric adds the squares by ascending index in float64, so that the
// mean is right to the last float32 bit for any width.
func rmsNormGeneric(dst, x, w []float32, eps float32, round Rounding) {
	var sum float64
	for _, v := range x {
		sum += float64(float64(v) * float64(v))
	}
	mean := float32(sum / float64(len(x)))
	scale := 1 / float32(math.Sqrt(float64(mean+eps)))
	dst = dst[:len(x)]
	if w == nil {
		for i, v := range x {
			dst[i] = float32(v * scale)
		}
	} else {
		w = w[:len(x)]
		for i, v := range x {
			dst[i] = float32(float32(v*scale) * w[i])
		}
	}
	round.slice(dst)
}

// GELUMul computes dst = GELU(gate) ⊙ up for rows of gate and up values: each
// row of x holds n gate values, then n up values; each row of dst n values. Both
// the GELU and the product are rounded.
func (t *Team) GELUMul(dst, x []float32, rows, n int, round Rounding) {
	t.eachRow(rows, func(r int) {
		row := x[r*2*n : (r+1)*2*n]
		t.set.geluMul(dst[r*n:(r+1)*n], row[:n], row[n:], round)
	})
}

// GELUMulSplit is GELUMul with gate and up in matrices of their own [rows × n].
func (t *Team) GELUMulSplit(dst, gate, up []float32, rows, n int, round Rounding) {
	t.eachRow(rows, func(r int) {
		t.set.geluMul(dst[r*n:(r+1)*n], gate[r*n:(r+1)*n], up[r*n:(r+1)*n], round)
	})
}

func geluMulGeneric(dst, gate, up []float32, round Rounding) {
	up, dst = up[:len(gate)], dst[:len(gate)]
	for i, g := range gate {
		dst[i] = round.value(float32(round.value(gelu(g)) * up[i]))
	}
}

// gelu is the tanh form: 0.5·x·(1+tanh(√(2/π)·(x+0.044715·x³))), in float32 in
// the order in which the official implementation evaluates it.
func gelu(x float32) float32 {
	const beta = float32(math.Sqrt2 * 2 / math.SqrtPi * 0.5) // √(2/π)
	cube := float32(float32(x*x) * x)
	inner := float32(beta * (x + float32(0.044715*cube)))
	return float32(float32(0.5*x) * (1 + tanh32(inner)))
}

// Add computes dst = a + b, rounded.
func (t *Team) Add(dst, a, b []float32, rows int, round Rounding) {
	n := width(a, rows)
	t.eachRow(rows, func(r int) {
		d, y := dst[r*n:(r+1)*n], b[r*n:(r+1)*n]
		for i, v := range a[r*n : (r+1)*n] {
			d[i] = round.value(v + y[i])
		}
	})
}

// AddScale computes x = (x + y)·s, rounding the sum and the product: the end of
// a layer, residual and layer scalar.
func (t *Team) AddScale(x, y []float32, rows int, s float32, round Rounding) {
	n := width(x, rows)
	t.eachRow(rows, func(r int) {
		d, y := x[r*n:(r+1)*n], y[r*n:(r+1)*n]
		for i, v := range d {
			d[i] = round.value(float32(round.value(v+y[i]) * s))
		}
	})
}

// Embed looks up rows of the table and multiplies them by s, rounded.
func (t *Team) Embed(dst []float32, ids []int32, table Matrix, s float32, round Rounding) {
	n := table.Cols
	t.eachRow(len(ids), func(r int) {
		row := dst[r*n : (r+1)*n]
		table.unpack(row, int(ids[r]), 1, round)
		for i, v := range row {
			row[i] = round.value(float32(v * s))
		}
	})
}

// FirstNonFinite returns the index of the first row that holds NaN or infinity,
// or -1.
func (t *Team) FirstNonFinite(x []float32, rows int) int {
	n := width(x, rows)
	for r := range rows {
		if !Finite(x[r*n : (r+1)*n]) {
			return r
		}
	}
	return -1
}
