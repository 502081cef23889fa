package kernel

import "math"

// An expertList orders the experts of one row by probability.
//
// Which of equally likely experts comes first matters: scores in bfloat16 tie
// often, and when the tie is at the last chosen place, another expert computes.
// The official implementation leaves the order to the selection algorithm of the
// C++ library (quickselect with the median of three, then insertion sort), which
// is deterministic, so this is the same algorithm step by step. It made the
// router agree in all ties of the text fixtures.
type expertList []expertProb

type expertProb struct {
	p  float32
	id int32
}

// before is the official order: descending, NaN first.
func (a expertProb) before(b expertProb) bool {
	if nan := math.IsNaN(float64(a.p)); nan || math.IsNaN(float64(b.p)) {
		return nan && !math.IsNaN(float64(b.p))
	}
	return a.p > b.p
}

// top returns the k most likely experts in descending order; it is valid until
// the next call.
func (l *expertList) top(p []float32, k int) []expertProb {
	if cap(*l) < len(p) {
		*l = make(expertList, len(p))
	}
	list := (*l)[:len(p)]
	for i, v := range p {
		list[i] = expertProb{v, int32(i)}
	}
	list.selectNth(k - 1)
	list[:k-1].sort()
	return list[:k]
}

// selectNth puts the element of that rank in its place, those before it in front.
func (l expertList) selectNth(nth int) {
	first, last := 0, len(l)
	for last-first > 3 {
		if cut := l[first:last].partition() + first; cut <= nth {
			first = cut
		} else {
			last = cut
		}
	}
	l[first:last].sort()
}

// partition splits the list at the median of its second, middle and last
// element, and returns where the second part begins.
func (l expertList) partition() int {
	pivot := l.median(1, len(l)/2, len(l)-1)
	l[0], l[pivot] = l[pivot], l[0]
	i, j := 1, len(l)
	for {
		for l[i].before(l[0]) {
			i++
		}
		j--
		for l[0].before(l[j]) {
			j--
		}
		if i >= j {
			return i
		}
		l[i], l[j] = l[j], l[i]
		i++
	}
}

// median returns which of three places holds the middle element.
func (l expertList) median(a, b, c int) int {
	switch {
	case l[a].before(l[b]):
		switch {
		case l[b].before(l[c]):
			return b
		case l[a].before(l[c]):
			return c
		}
		return a
	case l[a].before(l[c]):
		return a
	case l[b].before(l[c]):
		return c
	}
	return b
}

// sort is a stable insertion sort.
func (l expertList) sort() {
	for i := 1; i < len(l); i++ {
		e, j := l[i], i
		for j > 0 && e.before(l[j-1]) {
			l[j] = l[j-1]
			j--
		}
		l[j] = e
	}
}
