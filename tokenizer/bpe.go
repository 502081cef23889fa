package tokenizer

import (
	"iter"
	"slices"
)

// symbol is a token in the making. Symbols form a doubly linked list in the
// order of the text, so that joining two of them costs O(1).
type symbol struct {
	id         int32
	rank       int32 // of the merge with the next symbol, noRank if there is none
	prev, next int   // indices, -1 at the ends
	span       Span
}

const noRank int32 = -1

// merger joins neighbours by rank. The candidates wait in a heap, lowest rank
// first and leftmost first within a rank. A candidate whose symbols have
// changed since stays in the heap and is passed over when it comes up: the
// rank that its symbol then has is another one. Each join removes a symbol and
// makes at most two new candidates, so n symbols make less than 3n candidates
// and the cost is O(n log n).
type merger struct {
	symbols []symbol
	heap    candidateHeap
}

// reset empties the list and makes room for n symbols.
func (m *merger) reset(n int) {
	m.symbols = slices.Grow(m.symbols[:0], n)
	m.heap.items = m.heap.items[:0]
}

// add appends a symbol to the list.
func (m *merger) add(id int32, s Span) {
	i := len(m.symbols)
	if i > 0 {
		m.symbols[i-1].next = i
	}
	m.symbols = append(m.symbols, symbol{id: id, rank: noRank, prev: i - 1, next: -1, span: s})
}

// extend stretches the last symbol over s if it is id.
func (m *merger) extend(id int32, s Span) bool {
	n := len(m.symbols)
	if n == 0 || m.symbols[n-1].id != id {
		return false
	}
	m.symbols[n-1].span.End = s.End
	return true
}

// merge joins neighbours until none has a merge. Merges into a token id with
// barred[id] are left out; barred may be nil.
func (m *merger) merge(table *merges, barred []bool) {
	for i := range m.symbols {
		if m.rate(i, table, barred) {
			m.heap.items = append(m.heap.items, newCandidate(m.symbols[i].rank, i))
		}
	}
	m.heap.init()
	for len(m.heap.items) > 0 {
		c := m.heap.pop()
		i := c.index()
		s := &m.symbols[i]
		if s.rank != c.rank() {
			continue
		}
		joined := &m.symbols[s.next]
		joined.rank = noRank
		s.id = table.results[s.rank]
		s.span.End = joined.span.End
		s.next = joined.next
		if s.next >= 0 {
			m.symbols[s.next].prev = i
		}
		if m.rate(i, table, barred) {
			m.heap.push(newCandidate(s.rank, i))
		}
		if s.prev >= 0 && m.rate(s.prev, table, barred) {
			m.heap.push(newCandidate(m.symbols[s.prev].rank, s.prev))
		}
	}
}

// rate sets the rank of symbol i and reports whether it can be merged.
func (m *merger) rate(i int, table *merges, barred []bool) bool {
	s := &m.symbols[i]
	s.rank = noRank
	if s.next < 0 {
		return false
	}
	rank, ok := table.ranks[pairKey(s.id, m.symbols[s.next].id)]
	if !ok || barred != nil && barred[table.results[rank]] {
		return false
	}
	s.rank = rank
	return true
}

// result yields the symbols that are left, in the order of the text.
func (m *merger) result() iter.Seq[*symbol] {
	return func(yield func(*symbol) bool) {
		for i := 0; i >= 0; i = m.symbols[i].next {
			if !yield(&m.symbols[i]) {
				return
			}
		}
	}
}

// candidate is a possible merge of a symbol with the next: the rank in the
// upper 31 bits, the symbol's index in the lower 33, so that the smaller
// number goes first.
type candidate uint64

const indexBits = 33

func newCandidate(rank int32, index int) candidate {
	return candidate(rank)<<indexBits | candidate(index)
}

func (c candidate) rank() int32 { return int32(c >> indexBits) }
func (c candidate) index() int  { return int(c & (1<<indexBits - 1)) }

// candidateHeap is a binary heap with the smallest candidate first.
type candidateHeap struct {
	items []candidate
	work  int // comparisons and moves so far: what a test bounds
}

// init makes a heap of items in any order.
func (h *candidateHeap) init() {
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *candidateHeap) push(c candidate) {
	i := len(h.items)
	h.items = append(h.items, c)
	for i > 0 {
		h.work++
		parent := (i - 1) / 2
		if h.items[parent] <= c {
			break
		}
		h.items[i] = h.items[parent]
		i = parent
	}
	h.items[i] = c
}

// pop removes the smallest of at least one candidate.
func (h *candidateHeap) pop() candidate {
	top := h.items[0]
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	if last > 0 {
		h.down(0)
	}
	return top
}

func (h *candidateHeap) down(i int) {
	c := h.items[i]
	for {
		h.work++
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if right := child + 1; right < len(h.items) && h.items[right] < h.items[child] {
			child = right
		}
		if c <= h.items[child] {
			break
		}
		h.items[i] = h.items[child]
		i = child
	}
	h.items[i] = c
}
