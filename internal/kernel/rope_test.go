package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// The frequencies and examples are those of model.md §3.4.

func TestFrequencies(t *testing.T) {
	sliding := Frequencies(256, 1e4, 1, 1)
	full := Frequencies(512, 1e6, 0.25, 1)
	if len(sliding) != 128 || len(full) != 256 {
		t.Fatalf("%d and %d pairs", len(sliding), len(full))
	}
	for _, c := range []struct {
		name string
		f    []float32
		i    int
		want float64
	}{
		{"sliding", sliding, 0, 1},
		{"sliding", sliding, 1, 0.930572041},
		{"sliding", sliding, 2, 0.865964323},
		{"sliding", sliding, 63, 0.0107460783},
		{"sliding", sliding, 64, 0.01},
		{"sliding", sliding, 127, 1.07460783e-4},
		{"full", full, 0, 1},
		{"full", full, 1, 0.947463526},
		{"full", full, 2, 0.897687132},
		{"full", full, 31, 0.187688429},
		{"full", full, 32, 0.177827941},
		{"full", full, 62, 0.0352269465},
		{"full", full, 63, 0.0333762469},
	} {
		near(t, fmt.Sprintf("%s f[%d]", c.name, c.i), c.f[c.i:c.i+1], []float64{c.want}, 1e-7*c.want)
	}
	if f := full[64:]; slices.ContainsFunc(f, func(v float32) bool { return v != 0 }) {
		t.Errorf("pairs from 64 on rotate: %v", f)
	}
	if f := Frequencies(8, 1e6, 0.25, 1); !slices.Equal(f, []float32{1, 0, 0, 0}) {
		t.Errorf("the tiny proportional head: %v", f)
	}
	near(t, "d = 16", Frequencies(16, 1e6, 0.25, 1)[:3], []float64{1, 0.177827941, 0}, 1e-8)
	near(t, "factor 8", Frequencies(8, 1e4, 1, 8), []float64{1. / 8, 0.1 / 8, 0.01 / 8, 0.001 / 8}, 1e-8)
}

// rotated returns x rotated at a position.
func rotated(t *testing.T, x []float32, freq []float32, position int, round Rounding) []float32 {
	t.Helper()
	var rot Rotation
	rot.Set(newTeam(t, 1), freq, []int{position}, round)
	y := slices.Clone(x)
	rot.Rotate(y, 0, round)
	return y
}

func TestRotateTinyProportionalHead(t *testing.T) {
	got := rotated(t, []float32{1, 2, 3, 4, 5, 6, 7, 8}, Frequencies(8, 1e6, 0.25, 1), 3, F32)
	near(t, "position 3", got, []float64{-1.69559254, 2, 3, 4, -4.80884247, 6, 7, 8}, 1e-6)
}

func TestRotateRealHeads(t *testing.T) {
	for _, c := range []struct {
		name           string
		d              int
		theta, partial float64
		want           map[int][2]float64
	}{
		{"full", 512, 1e6, 0.25, map[int][2]float64{
			0:  {0.24897069, -2.22216417},
			1:  {-0.89908410, -2.04735141},
			63: {0.28961608, 2.21723308},
			64: {1, 2},
		}},
		{"sliding", 256, 1e4, 1, map[int][2]float64{
			0:   {0.24897069, -2.22216417},
			1:   {-1.23047398, -1.86706555},
			127: {0.99785021, 2.00107345},
		}},
	} {
		x := make([]float32, c.d)
		for i := range c.d / 2 {
			x[i], x[i+c.d/2] = 1, 2
		}
		y := rotated(t, x, Frequencies(c.d, c.theta, c.partial, 1), 10, F32)
		for i, want := range c.want {
			near(t, fmt.Sprintf("%s pair %d", c.name, i), []float32{y[i], y[i+c.d/2]}, want[:], 2e-6)
		}
	}
}

// Angles are float32 products; far positions must not lose more than that.
func TestRotationFarPositions(t *testing.T) {
	freq := Frequencies(256, 1e4, 1, 1)
	positions := []int{0, 1, 255, 1023, 1024, 65_535, 131_071, 262_143}
	var rot Rotation
	rot.Set(newTeam(t, 2), freq, positions, F32)
	for r, p := range positions {
		for i, f := range freq {
			angle := float64(float32(float32(p) * f))
			near(t, fmt.Sprintf("position %d pair %d", p, i),
				[]float32{rot.cos[r*128+i], rot.sin[r*128+i]}, []float64{math.Cos(angle), math.Sin(angle)}, 4e-8)
		}
	}
}

func TestRotateRoundsInBF16(t *testing.T) {
	freq := Frequencies(32, 1e4, 1, 1)
	x := roundedTo(BF16, uniforms(newRandom(1), 32, 4))
	got := rotated(t, x, freq, 77, BF16)
	for i, f := range freq {
		angle := float64(float32(77 * f))
		c, s := bf16(float32(math.Cos(angle))), bf16(float32(math.Sin(angle)))
		a, b := x[i], x[i+16]
		want := []float32{
			bf16(bf16(float32(a*c)) - bf16(float32(b*s))),
			bf16(bf16(float32(b*c)) + bf16(float32(a*s))),
		}
		sameBits(t, fmt.Sprintf("pair %d", i), []float32{got[i], got[i+16]}, want)
	}
}

// A row of a rotation is that of its position alone, also when the rotation was
// used before for more positions and wider heads.
func TestRotationRowAlone(t *testing.T) {
	var rot Rotation
	rot.Set(newTeam(t, 1), Frequencies(64, 1e4, 1, 1), []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, F32)
	freq := Frequencies(16, 1e4, 1, 1)
	positions := []int{9, 0, 500, 9}
	x := uniforms(newRandom(2), 16, 2)
	for _, threads := range threadCounts {
		rot.Set(newTeam(t, threads), freq, positions, BF16)
		for r, p := range positions {
			y := slices.Clone(x)
			rot.Rotate(y, r, BF16)
			sameBits(t, fmt.Sprintf("row %d", r), y, rotated(t, x, freq, p, BF16))
		}
	}
}

func TestHeadNorm(t *testing.T) {
	const rows, heads, d, eps = 9, 3, 16, 1e-6
	r := newRandom(3)
	x, w := uniforms(r, rows*heads*d, 4), uniforms(r, d, 2)
	freq := Frequencies(d, 1e4, 1, 1)
	positions := []int{5, 6, 7, 8, 9, 10, 11, 12, 13}
	for _, round := range []Rounding{F32, BF16} {
		for _, threads := range threadCounts {
			team := newTeam(t, threads)
			var rot Rotation
			rot.Set(team, freq, positions, round)
			turned, plain := slices.Clone(x), slices.Clone(x)
			team.HeadNorm(turned, w, rows, heads, d, eps, &rot, round)
			team.HeadNorm(plain, nil, rows, heads, d, eps, nil, round)
			for at := 0; at < len(x); at += d {
				want := make([]float32, d)
				rmsNormGeneric(want, x[at:at+d], nil, eps, round)
				sameBits(t, "without weight and rotation", plain[at:at+d], want)
				rmsNormGeneric(want, x[at:at+d], w, eps, round)
				sameBits(t, "with both", turned[at:at+d], rotated(t, want, freq, positions[at/(heads*d)], round))
			}
		}
	}
}
