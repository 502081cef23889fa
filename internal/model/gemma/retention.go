package gemma

import "github.com/frescolm/fresco/internal/model"

// A sliding layer sees the last window-1 committed positions (model.md §3.5),
// and stores more: as far back as the largest rollback, so that Truncate can
// undo the last commit and still find everything that the positions before it
// see. The largest rollback is one canvas or the last Encode, whichever is
// longer.

// seenFrom is the first committed position that a token at position next sees on
// a sliding layer.
func (c *config) seenFrom(next int) int { return max(0, next-(c.window-1)) }

// storedFrom is the first position that a sliding layer must keep after an
// Encode that went from position before to length after.
func (c *config) storedFrom(before, after int) int {
	return c.seenFrom(max(0, min(before, after-c.canvas)))
}

// retain drops what no Truncate can need any more.
func (s *sequence) retain(before int) {
	keep := s.backend.config.storedFrom(before, s.length)
	for i := range s.layers {
		if s.backend.config.layers[i].kind == model.Sliding {
			s.layers[i].forget(keep)
		}
	}
}

// earliest is the smallest length to which Truncate can go back, apart from 0:
// the one at which all sliding layers still hold what its next token sees.
func (s *sequence) earliest() int {
	first := 0
	for i := range s.layers {
		if s.backend.config.layers[i].kind == model.Sliding && s.layers[i].first > 0 {
			first = max(first, s.layers[i].first+s.backend.config.window-1)
		}
	}
	return first
}
