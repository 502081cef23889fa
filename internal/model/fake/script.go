package fake

import "math"

// A Script says what the model believes. A missing function answers with
// Hashed rows.
type Script struct {
	// Denoise gives the soft-capped logits of one row of a canvas.
	Denoise func(p Pass, row int) Row
	// Next gives the logits of the token that follows prefix, which is never
	// empty. It must not keep prefix.
	Next func(prefix []int32) Row
}

// A Pass is one denoising step, as a script sees it. Its slices belong to the
// backend.
type Pass struct {
	// Prefix holds the committed tokens, Canvas the ids before the step.
	Prefix, Canvas []int32
	// Number counts the canvases of an answer from 0 and Redraw is true for a
	// second attempt; both are read from the address of the draws.
	Number int
	Redraw bool
	// Step counts the steps since the canvas was made or Reset, from 0.
	Step int
	// Previous holds the processed logits of the last step [Canvas × vocabulary],
	// nil in the first.
	Previous []float32
}

// A Row fills one row of logits.
type Row func(logits []float32)

// certainty is the logit of a token that Certain names; with it the entropy of
// a row is 0 in float32 at every temperature in use.
const certainty = 200

// Certain is a row whose token is id with certainty.
func Certain(id int32) Row {
	return func(logits []float32) {
		clear(logits)
		logits[id] = certainty
	}
}

// Uniform is a row in which all tokens are equally likely.
func Uniform() Row {
	return func(logits []float32) { clear(logits) }
}

// NaN is a row with one logit that is not a number.
func NaN() Row {
	return func(logits []float32) {
		clear(logits)
		logits[len(logits)/2] = float32(math.NaN())
	}
}

// Logits is a row given in full; ids beyond its end have logit 0.
func Logits(values ...float32) Row {
	return func(logits []float32) {
		clear(logits)
		copy(logits, values)
	}
}

// Favour is a row in which every listed token has the logit given and all
// others 0.
func Favour(logit float32, ids ...int32) Row {
	return func(logits []float32) {
		clear(logits)
		for _, id := range ids {
			logits[id] = logit
		}
	}
}

// Hashed is a row of logits in [-4, 4) that look random and depend on every bit
// of key.
func Hashed(key uint64) Row {
	return func(logits []float32) {
		for id := range logits {
			word := mix(key + uint64(id)*0x9e3779b97f4a7c15)
			logits[id] = float32(word>>40)/(1<<21) - 4
		}
	}
}

// Canvases scripts an answer for diffusion mode: canvas number c is ids[c] with
// certainty from the first step on, filled up with fill; canvases after the
// last consist of fill alone.
func Canvases(fill int32, ids ...[]int32) Script {
	return Script{Denoise: func(p Pass, row int) Row {
		if p.Number < len(ids) && row < len(ids[p.Number]) {
			return Certain(ids[p.Number][row])
		}
		return Certain(fill)
	}}
}

// Continuation scripts an answer for autoregressive mode: after a prompt of the
// given length ids follow one by one with certainty, then fill for ever.
func Continuation(prompt int, fill int32, ids ...int32) Script {
	return Script{Next: func(prefix []int32) Row {
		if k := len(prefix) - prompt; k >= 0 && k < len(ids) {
			return Certain(ids[k])
		}
		return Certain(fill)
	}}
}

// denoise is the row of a script, or a Hashed one that depends on the prefix,
// the canvas, the row and the logits that the last step left.
func (s Script) denoise(p Pass, row int) Row {
	if s.Denoise != nil {
		return s.Denoise(p, row)
	}
	h := hashIDs(1, p.Prefix)
	h = hashIDs(h, p.Canvas)
	for _, x := range p.Previous {
		h = mix(h ^ uint64(math.Float32bits(x)))
	}
	return Hashed(mix(h ^ uint64(row)))
}

func (s Script) next(prefix []int32) Row {
	if s.Next != nil {
		return s.Next(prefix)
	}
	return Hashed(hashIDs(2, prefix))
}

func hashIDs(h uint64, ids []int32) uint64 {
	h = mix(h + uint64(len(ids)))
	for _, id := range ids {
		h = mix(h ^ uint64(uint32(id)))
	}
	return h
}

// mix is the finaliser of splitmix64: a bijection in which every bit of the
// input moves about half of the output.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
