//go:build amd64 && !purego

package kernel

// peakLoops holds the loops of the classes that have one of their own. A class
// computes 12 sums a round, as asmgen writes it.
var peakLoops = map[string]peakLoop{
	"avx2":   {multiplyAddsAVX2, 2 * 12 * 8},
	"avx512": {multiplyAddsAVX512, 2 * 12 * 16},
}

//go:noescape
func multiplyAddsAVX2(rounds int, f float32) (sum float32)

//go:noescape
func multiplyAddsAVX512(rounds int, f float32) (sum float32)
