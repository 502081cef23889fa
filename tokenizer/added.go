package tokenizer

// addedTrie finds added tokens in raw text. Node 0 is the root.
type addedTrie struct {
	first [256]bool        // bytes that an added token begins with
	edges map[uint64]int32 // node<<8 | byte → node
	ends  map[int32]int32  // node → id of the token that ends there
}

func (a *addedTrie) add(content string, id int32) {
	if a.edges == nil {
		a.edges, a.ends = map[uint64]int32{}, map[int32]int32{}
	}
	a.first[content[0]] = true
	node := int32(0)
	for i := range len(content) {
		key := uint64(node)<<8 | uint64(content[i])
		next, ok := a.edges[key]
		if !ok {
			next = int32(len(a.edges) + 1)
			a.edges[key] = next
		}
		node = next
	}
	a.ends[node] = id
}

// next returns the leftmost added token at or after byte from of text, the
// longest of those that begin there. Tokens with barred[id] do not count; barred
// may be nil. The start is len(text) when there is none.
func (a *addedTrie) next(text string, from int, barred []bool) (start, end int, id int32) {
	for start = from; start < len(text); start++ {
		if !a.first[text[start]] {
			continue
		}
		if end, id := a.longest(text, start, barred); id != none {
			return start, end, id
		}
	}
	return len(text), len(text), none
}

func (a *addedTrie) longest(text string, start int, barred []bool) (end int, id int32) {
	id = none
	node := int32(0)
	for i := start; i < len(text); i++ {
		next, ok := a.edges[uint64(node)<<8|uint64(text[i])]
		if !ok {
			break
		}
		node = next
		if found, ok := a.ends[node]; ok && (barred == nil || !barred[found]) {
			end, id = i+1, found
		}
	}
	return end, id
}
