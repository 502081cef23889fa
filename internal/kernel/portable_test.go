package kernel

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
)

// The inputs of these tests round every product as well: a fused input would
// differ before anything is tested.

// digest hashes results by their bits.
type digest struct{ bytes []byte }

func (d *digest) f32(values ...float32) {
	for _, x := range values {
		d.bytes = binary.LittleEndian.AppendUint32(d.bytes, math.Float32bits(x))
	}
}

func (d *digest) f64(values ...float64) {
	for _, x := range values {
		d.bytes = binary.LittleEndian.AppendUint64(d.bytes, math.Float64bits(x))
	}
}

func (d *digest) ints(values ...int32) {
	for _, x := range values {
		d.bytes = binary.LittleEndian.AppendUint32(d.bytes, uint32(x))
	}
}

func (d *digest) sum() uint64 {
	h := fnv.New64a()
	h.Write(d.bytes)
	return h.Sum64()
}

// portable lists the operations of the reference on fixed inputs, with the hash
// that every target must give: amd64 of any level, arm64, with assembly or
// without.
var portable = []struct {
	name string
	want uint64
	run  func(t *testing.T, team *Team, d *digest)
}{
	{"exp32", 0xa5fd1dbca11c5503, func(t *testing.T, team *Team, d *digest) {
		for i := range 20_000 {
			x := float32(float32(i)*0.0098) - 105
			d.f32(exp32(x), fastExp32(min(x, 0)), tanh32(x/8))
		}
	}},
	{"exp64", 0x3f1602820d40cd48, func(t *testing.T, team *Team, d *digest) {
		for i := range 2_000 {
			x := float64(float64(i)*0.7) - 700
			d.f64(exp64(x), log64(1+float64(float64(i)*1.37)), pow64(1e6, float64(i)/2000))
		}
	}},
	{"sinCos64", 0x508cb561002d87cf, func(t *testing.T, team *Team, d *digest) {
		for i := range 5_000 {
			d.f64(sinCos64(float64(float32(i) * 52.1)))
		}
	}},
	{"Linear", 0xffef37482a1e8b26, func(t *testing.T, team *Team, d *digest) {
		const rows, n, k = 7, 45, 33
		for _, typ := range weightTypes {
			for _, round := range []Rounding{F32, BF16} {
				r := newRandom(1)
				dst := make([]float32, rows*n)
				team.Linear(dst, uniforms(r, rows*k, 2), rows, newMatrix(t, typ, n, k, uniforms(r, n*k, 1)), round)
				d.f32(dst...)
			}
		}
	}},
	{"LinearGrouped", 0xef8233128a6eaa8f, func(t *testing.T, team *Team, d *digest) {
		const n, k = 35, 33
		r := newRandom(2)
		dst := make([]float32, 9*n)
		team.LinearGrouped(dst, uniforms(r, 9*k, 2), []int{0, 4, 4, 9}, newMatrix(t, dtype.BF16, 3*n, k, uniforms(r, 3*n*k, 1)), n, F32)
		d.f32(dst...)
	}},
	{"pointwise", 0x552a6fd3bc022956, func(t *testing.T, team *Team, d *digest) {
		const rows, n = 5, 34
		for _, round := range []Rounding{F32, BF16} {
			r := newRandom(3)
			x, y, w := uniforms(r, rows*n, 4), uniforms(r, rows*n, 4), uniforms(r, n, 2)
			dst := make([]float32, rows*n)
			team.RMSNorm(dst, x, w, rows, 1e-6, round)
			d.f32(dst...)
			team.GELUMulSplit(dst, x, y, rows, n, round)
			d.f32(dst...)
			team.GELUMul(dst[:rows*n/2], x, rows, n/2, round)
			d.f32(dst[:rows*n/2]...)
			team.Add(dst, x, y, rows, round)
			d.f32(dst...)
			team.AddScale(dst, x, rows, 0.7, round)
			d.f32(dst...)
			team.RouterScale(dst, x, w, rows, 1e-6, 0.17, round)
			d.f32(dst...)
			team.Embed(dst, []int32{4, 0, 2, 2, 1}, newMatrix(t, dtype.F32, rows, n, x), 53.066, round)
			d.f32(dst...)
		}
	}},
	{"rope", 0x69a2b958ba9f79dc, func(t *testing.T, team *Team, d *digest) {
		for _, round := range []Rounding{F32, BF16} {
			x := uniforms(newRandom(4), 6*2*256, 4)
			for _, freq := range [][]float32{Frequencies(256, 1e4, 1, 1), Frequencies(256, 1e6, 0.25, 8)} {
				d.f32(freq...)
				var rot Rotation
				rot.Set(team, freq, []int{0, 1, 255, 1024, 70_000, 262_143}, round)
				d.f32(rot.cos...)
				d.f32(rot.sin...)
				team.HeadNorm(x, nil, 6, 2, 256, 1e-6, &rot, round)
				d.f32(x...)
			}
		}
	}},
	{"Attend", 0x81a2d6a16226d7c4, func(t *testing.T, team *Team, d *digest) {
		for _, c := range attentionCases {
			for _, round := range []Rounding{F32, BF16} {
				in := newAttention(c, round)
				d.f32(in.whole(team)...)
			}
		}
	}},
	{"experts", 0x45769e959a728f6c, func(t *testing.T, team *Team, d *digest) {
		const rows, experts, k, n = 9, 32, 4, 11
		r := newRandom(5)
		ids, weights := make([]int32, rows*k), make([]float32, rows*k)
		scores := roundedTo(BF16, uniforms(r, rows*experts, 2))
		team.Route(ids, weights, scores, uniforms(r, experts, 1), rows, k)
		d.ints(ids...)
		d.f32(weights...)
		for _, round := range []Rounding{F32, BF16} {
			dst := make([]float32, rows*n)
			team.MixExperts(dst, uniforms(r, rows*k*n, 4), weights, r.Perm(rows*k), rows, k, n, round)
			d.f32(dst...)
		}
	}},
	{"Head", 0x756e5d5ade7e8667, func(t *testing.T, team *Team, d *digest) {
		const size = 1000
		vocab := Vocabulary{Size: size, Softcap: 30}
		base := questions(&vocab)
		names := make([]string, 0, len(base))
		for name := range base {
			names = append(names, name)
		}
		slices.Sort(names)
		var want []HeadRow
		for i, name := range names {
			q := base[name]
			q.Draw = canvas.Address{Seed: 6, Position: uint32(i)}
			want = append(want, q)
		}
		z := uniforms(newRandom(6), len(want)*size, 16)
		for _, round := range []Rounding{F32, BF16} {
			l, stats := head(t, team, vocab, z, round, want)
			for _, s := range stats {
				d.ints(s.Argmax, s.Sample)
				d.f32(s.Entropy)
				d.f32(s.Scores...)
				for _, top := range s.Top {
					d.ints(top.ID)
					d.f32(top.LogProb)
				}
			}
			kept := make([]float32, len(z))
			if err := l.Copy(kept); err != nil {
				t.Fatal(err)
			}
			d.f32(kept...)
		}
	}},
	{"SoftEmbed", 0xc517839046569ee8, func(t *testing.T, team *Team, d *digest) {
		const rows, size, n = 3, 5000, 70
		r := newRandom(7)
		table := newMatrix(t, dtype.BF16, size, n, uniforms(r, size*n, 1))
		logits := uniforms(r, rows*size, 16)
		for _, round := range []Rounding{F32, BF16} {
			d.f32(softEmbed(t, team, logits, rows, table, 53, round)...)
		}
	}},
}

func TestSameBitsOnEveryTarget(t *testing.T) {
	for _, p := range portable {
		t.Run(p.name, func(t *testing.T) {
			for _, threads := range threadCounts {
				var d digest
				p.run(t, newTeam(t, threads), &d)
				if got := d.sum(); got != p.want {
					t.Errorf("%d threads: hash %#016x, want %#016x", threads, got, p.want)
				}
			}
		})
	}
}
