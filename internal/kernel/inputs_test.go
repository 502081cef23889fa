package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/tensor"
)

// The inputs are uniform and scaled by powers of two, so that they are the same
// bits on every target. Comparisons are of bits: NaN equals itself, and 0 does
// not equal -0.

// newRandom returns a source of its own for a test.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// uniforms returns n values in [-scale, scale); scale is a power of two.
func uniforms(r *rand.Rand, n int, scale float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = (r.Float32() - 0.5) * (2 * scale)
	}
	return x
}

// roundedTo returns x as it is in the given arithmetic.
func roundedTo(round Rounding, x []float32) []float32 {
	y := append([]float32(nil), x...)
	round.slice(y)
	return y
}

// newMatrix stores values as a matrix of the given type.
func newMatrix(t testing.TB, typ dtype.Type, rows, cols int, v []float32) Matrix {
	t.Helper()
	data := make([]byte, 0, len(v)*typ.Bits()/8)
	for _, x := range v {
		switch typ {
		case dtype.F32:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		case dtype.BF16:
			data = binary.LittleEndian.AppendUint16(data, dtype.ToBF16(x))
		case dtype.F16:
			data = binary.LittleEndian.AppendUint16(data, dtype.ToF16(x))
		default:
			t.Fatalf("no matrix of type %v", typ)
		}
	}
	m, err := NewMatrix(tensor.Tensor{DType: typ, Shape: []int{rows, cols}, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// storedValues are the values that newMatrix keeps, as the arithmetic reads them.
func storedValues(typ dtype.Type, round Rounding, v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		switch typ {
		case dtype.BF16:
			x = dtype.RoundBF16(x)
		case dtype.F16:
			x = dtype.FromF16(dtype.ToF16(x))
		}
		out[i] = round.value(x)
	}
	return out
}

// newTeam returns a team of the reference class that is closed with the test.
func newTeam(t testing.TB, workers int) *Team {
	t.Helper()
	k, err := Choose("generic")
	if err != nil {
		t.Fatal(err)
	}
	return teamOf(t, k, workers)
}

func teamOf(t testing.TB, k *Kernels, workers int) *Team {
	team := NewTeam(k, workers)
	t.Cleanup(team.Close)
	return team
}

// eachClass runs f for every kernel class that this machine can run. What is
// true of all classes, and not only of the reference, is tested this way.
func eachClass(t *testing.T, f func(t *testing.T, k *Kernels)) {
	t.Helper()
	for _, c := range Classes() {
		t.Run(c.Name, func(t *testing.T) {
			if !c.Available {
				t.Skip(c.Reason)
			}
			k, err := Choose(c.Name)
			if err != nil {
				t.Fatal(err)
			}
			f(t, k)
		})
	}
}

// threadCounts are the numbers of workers under which results must be equal.
var threadCounts = []int{1, 2, 7}

// sameBits fails unless both slices hold the same bits.
func sameBits(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: value %d is %v (%#08x), want %v (%#08x)", what, i,
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// near fails unless every value is within tolerance of what is wanted.
func near(t testing.TB, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= tolerance) {
			t.Fatalf("%s: value %d is %v, want %v to within %g", what, i, got[i], want[i], tolerance)
		}
	}
}

var nan32 = float32(math.NaN())
