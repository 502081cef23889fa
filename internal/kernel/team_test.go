package kernel

import (
	"sync"
	"testing"

	"github.com/frescolm/fresco/internal/pool"
)

func TestTeam(t *testing.T) {
	for _, c := range []struct{ workers, want int }{{-1, 1}, {0, pool.Cores()}, {1, 1}, {3, 3}} {
		team := newTeam(t, c.workers)
		if team.Workers() != c.want || len(team.scratch) != c.want {
			t.Errorf("a team of %d has %d workers with %d scratches", c.workers, team.Workers(), len(team.scratch))
		}
		if team.Class() != "generic" {
			t.Errorf("class %q", team.Class())
		}
	}
}

func TestEachRow(t *testing.T) {
	for _, threads := range threadCounts {
		team := newTeam(t, threads)
		for _, rows := range []int{0, 1, 2, rowsPerItem, rowsPerItem + 1, 5*rowsPerItem - 1} {
			var mu sync.Mutex
			seen := make([]int, rows)
			team.eachRow(rows, func(row int) {
				mu.Lock()
				defer mu.Unlock()
				seen[row]++
			})
			for row, n := range seen {
				if n != 1 {
					t.Errorf("%d threads: row %d of %d ran %d times", threads, row, rows, n)
				}
			}
		}
	}
}

func TestGrowReuses(t *testing.T) {
	var buf []float32
	a := grow(&buf, 10)
	b := grow(&buf, 4)
	if len(a) != 10 || len(b) != 4 || &a[0] != &b[0] {
		t.Errorf("lengths %d and %d", len(a), len(b))
	}
	if c := grow(&buf, 11); len(c) != 11 {
		t.Errorf("length %d", len(c))
	}
}

func TestScratchBytes(t *testing.T) {
	// 32 rows of 8,192 columns, the vocabulary, and 256 positions by a panel.
	if got, want := WorkerBytes(8192, 256, 8, 256, 262144), int64(4*(32*8192+262144+256*256)); got != want {
		t.Errorf("WorkerBytes = %d, want %d", got, want)
	}
	// A wide head and a small vocabulary: the keys of an attention block are larger
	// than the panel, the scores than the vocabulary; a single position still needs
	// a chunk of the soft embedding.
	if got, want := WorkerBytes(64, 512, 8, 1, 320), int64(4*(512*512+8*512*8+4096)); got != want {
		t.Errorf("WorkerBytes = %d, want %d", got, want)
	}
	if got := SoftBytes(256); got != 4<<20 {
		t.Errorf("SoftBytes = %d", got)
	}
}
