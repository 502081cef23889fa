package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/quant"
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
	m, err := NewMatrix(quant.Tensor{Format: formatOf[typ], Shape: []int{rows, cols}, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var formatOf = map[dtype.Type]quant.Format{dtype.F32: quant.F32, dtype.BF16: quant.BF16, dtype.F16: quant.F16}

// blockMatrices returns a matrix of every block format, each of rows rows and
// the given number of blocks of 256 columns, of random codes. Scales are small:
// a random byte pattern would hold NaN.
func blockMatrices(t testing.TB, rows, blocks int) []Matrix {
	t.Helper()
	var all []Matrix
	r := newRandom(8)
	for id := range uint32(40) {
		f, err := quant.ByID(id)
		if err != nil || f.BlockElements() == 1 {
			continue
		}
		size, err := f.RowBytes(rows * blocks * 256)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, size)
		for i := range data {
			// Any two bytes below 0x40 are a finite F16 below 2, and one alone is a
			// small power of two in MXFP4.
			data[i] = byte(r.Uint32() & 0x3f)
		}
		m, err := NewMatrix(quant.Tensor{Format: f, Shape: []int{rows, blocks * 256}, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		t.Fatal("no block format")
	}
	return all
}

// decoded are the values of a matrix as the arithmetic reads them.
func decoded(t testing.TB, m Matrix, round Rounding) []float32 {
	t.Helper()
	v := make([]float32, m.Rows*m.Cols)
	if err := quant.Decode(m.format, v, m.data); err != nil {
		t.Fatal(err)
	}
	round.slice(v)
	return v
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
