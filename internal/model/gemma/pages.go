package gemma

import "github.com/frescolm/fresco/internal/kernel"

// pagePositions is the number of positions in a page of the KV cache.
const pagePositions = 64

// A page holds keys and values of one layer for pagePositions consecutive
// positions: [positions × KV heads × dim], in float32 or bfloat16. Sequences that
// were forked share pages; a page with more than one owner is copied before it
// is written.
type page struct {
	owners   int
	k32, v32 []float32
	k16, v16 []uint16
}

// pageStore hands out pages and takes them back. It is used from one goroutine.
type pageStore struct {
	round kernel.Rounding
	// free holds unused pages by their number of values.
	free map[int][]*page
	// used counts pages with at least one owner.
	used int
}

func newPageStore(round kernel.Rounding) *pageStore {
	return &pageStore{round: round, free: map[int][]*page{}}
}

// take returns a page of width values per position, with one owner. Its content
// is whatever was there.
func (s *pageStore) take(width int) *page {
	s.used++
	n := pagePositions * width
	if list := s.free[n]; len(list) > 0 {
		p := list[len(list)-1]
		s.free[n] = list[:len(list)-1]
		p.owners = 1
		return p
	}
	if s.round == kernel.BF16 {
		return &page{owners: 1, k16: make([]uint16, n), v16: make([]uint16, n)}
	}
	return &page{owners: 1, k32: make([]float32, n), v32: make([]float32, n)}
}

// drop gives up one owner's claim.
func (s *pageStore) drop(p *page) {
	if p.owners--; p.owners == 0 {
		s.used--
		if s.used == 0 {
			clear(s.free) // nobody is left: a long prompt does not keep its memory
			return
		}
		n := len(p.k32) + len(p.k16)
		s.free[n] = append(s.free[n], p)
	}
}

// own returns a page with the same content and no other owner.
func (s *pageStore) own(p *page, width int) *page {
	if p.owners == 1 {
		return p
	}
	mine := s.take(width)
	copy(mine.k32, p.k32)
	copy(mine.v32, p.v32)
	copy(mine.k16, p.k16)
	copy(mine.v16, p.v16)
	s.drop(p)
	return mine
}
