package kernel

// Frequencies returns the rotary frequencies of a head of headDim values
// (model.md §3.4): f_i = theta^(-2i/headDim)/factor for the first
// int(partial·headDim/2) pairs, 0 for the rest, computed in float32 as the
// official implementation does. partial is 1 where all pairs rotate.
func Frequencies(headDim int, theta, partial, factor float64) []float32 {
	f := make([]float32, headDim/2)
	rotating := int(partial * float64(headDim) / 2)
	for i := range min(rotating, len(f)) {
		exponent := float32(2*i) / float32(headDim)
		power := float32(pow64(theta, float64(exponent)))
		f[i] = (1 / power) / float32(factor)
	}
	return f
}

// A Rotation holds cosine and sine of some positions: [positions × pairs].
type Rotation struct {
	pairs    int
	cos, sin []float32
}

// Set fills the rotation: row r is for positions[r]. Angles are the float32
// product of position and frequency; cosine and sine are rounded to the
// activation type.
func (rot *Rotation) Set(t *Team, freq []float32, positions []int, round Rounding) {
	rot.pairs = len(freq)
	rot.cos = grow(&rot.cos, len(positions)*rot.pairs)
	rot.sin = grow(&rot.sin, len(positions)*rot.pairs)
	t.eachRow(len(positions), func(r int) {
		pos := float32(positions[r])
		for i, f := range freq {
			s, c := float32(0), float32(1)
			if f != 0 {
				sin, cos := sinCos64(float64(float32(pos * f)))
				s, c = float32(sin), float32(cos)
			}
			rot.cos[r*rot.pairs+i] = round.value(c)
			rot.sin[r*rot.pairs+i] = round.value(s)
		}
	})
}

// Rotate applies row r of the rotation to one head in place, pairs (i, i+d/2):
// both products and their sum are rounded.
func (rot *Rotation) Rotate(x []float32, r int, round Rounding) {
	half := rot.pairs
	lo, hi := x[:half], x[half:2*half]
	cos, sin := rot.cos[r*half:(r+1)*half], rot.sin[r*half:(r+1)*half]
	for i, c := range cos {
		a, b, s := lo[i], hi[i], sin[i]
		lo[i] = round.value(round.value(float32(a*c)) - round.value(float32(b*s)))
		hi[i] = round.value(round.value(float32(b*c)) + round.value(float32(a*s)))
	}
}

// HeadNorm normalises every head of x [rows × heads × d] in place with
// RMSNorm (w may be nil), and rotates it when rot is not nil: row r by row r of
// the rotation.
func (t *Team) HeadNorm(x, w []float32, rows, heads, d int, eps float32, rot *Rotation, round Rounding) {
	t.eachRow(rows, func(r int) {
		for h := range heads {
			head := x[(r*heads+h)*d : (r*heads+h+1)*d]
			t.set.rmsNorm(head, head, w, eps, round)
			if rot != nil {
				rot.Rotate(head, r, round)
			}
		}
	})
}
