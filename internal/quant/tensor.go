package quant

// Tensor is a dense row-major array of weights: Data holds the elements
// little-endian and without gaps, the last dimension fastest, in whole blocks of
// the format along it. An empty Shape is a scalar, one element. Data is often a
// file mapping: read it, never write it.
type Tensor struct {
	Format Format
	Shape  []int
	Data   []byte
}

// Elements is the number of elements of a tensor whose shape is known to be
// sound.
func (t Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}
