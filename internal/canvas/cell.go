package canvas

// A CellKind says how a position of a canvas comes by its token.
type CellKind uint8

const (
	// Free: the model decides.
	Free CellKind = iota
	// Pinned: the token is given and never redrawn.
	Pinned
)

// A Cell is what a request says about one position of a canvas.
type Cell struct {
	Kind CellKind
	// ID is the token of a Pinned cell.
	ID int32
}

// A Noise maps the draws of a fresh or renoised position to token ids: uniform
// over the ids that have a token. When every row of the embedding has one, it is
// Noise{Count: rows}.
type Noise struct {
	// Count is the number of ids that can be drawn.
	Count int
	// IDs lists them in ascending order; nil means 0 … Count-1.
	IDs []int32
}

// At returns the k-th id that can be drawn, 0 ≤ k < Count.
func (n Noise) At(k int) int32 {
	if n.IDs == nil {
		return int32(k)
	}
	return n.IDs[k]
}
