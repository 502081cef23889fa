package kernel

import (
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
)

// After n rounds a sum is 1-2⁻ⁿ, exactly, and there are as many as the class says.
func TestPeakLoops(t *testing.T) {
	for _, class := range Classes() {
		if !class.Available {
			continue
		}
		t.Run(class.Name, func(t *testing.T) {
			loop, ok := peakLoops[class.Name]
			lanes := map[string]int{"avx2": 8, "avx512": 16}[class.Name]
			if class.Name == "generic" {
				loop, ok, lanes = genericPeak, true, 1
			}
			if !ok || lanes == 0 {
				t.Fatal("the class has no loop of its own, so its peak would be that of generic code")
			}
			for rounds, want := range map[int]float32{1: 0.5, 2: 0.75, 5: 1 - 1.0/32} {
				sums := float32(loop.perRound / 2 / lanes)
				if got := loop.run(rounds, 0.5); got != want*sums {
					t.Errorf("%d rounds: %v, want %v × %v", rounds, got, want, sums)
				}
			}
		})
	}
}

func TestMultiplyAdds(t *testing.T) {
	if got, want := newTeam(t, 2).MultiplyAdds(), 2.0*peakItems*peakPerItem*float64(2*12); got < want {
		t.Errorf("%v operations, fewer than the %v of generic code", got, want)
	}
}

// Read sees every word once, whatever is left over by lines and items.
func TestRead(t *testing.T) {
	team := newTeam(t, 2)
	for _, n := range []int{0, 1, 7, 8, 9, readItem, readItem + 13, 3*readItem - 1} {
		data, want := make([]uint64, n), uint64(0)
		for i := range data {
			data[i] = uint64(i)*0x9e3779b97f4a7c15 + 1
			want += data[i]
		}
		if got := team.Read(data); got != want {
			t.Errorf("%d words: %x, want %x", n, got, want)
		}
	}
}

// Unpack leaves the last panel that it unpacked in the scratch memory.
func TestUnpack(t *testing.T) {
	team := newTeam(t, 1)
	const rows, n = panelRows + 3, 5
	values := uniforms(newRandom(1), rows*n, 1)
	team.Unpack(newMatrix(t, dtype.F32, rows, n, values), F32)
	for i, want := range values[panelRows*n:] {
		if got := team.scratch[0].panel[:3*n][i]; got != want {
			t.Fatalf("value %d is %v, want %v", i, got, want)
		}
	}
}
