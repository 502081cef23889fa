package kernel

import (
	"unsafe"

	"github.com/frescolm/fresco/internal/pool"
)

// A Team is a kernel class with the workers that run it and their scratch
// memory. Its methods are the operations of the model; they may be called from
// one goroutine at a time.
type Team struct {
	*Kernels
	pool    *pool.Pool
	scratch []workerScratch
}

// workerScratch is one worker's memory, grown to the largest use.
type workerScratch struct {
	panel, scores, rows []float32
	softmax             []rowSoftmax
	experts             expertList
}

// Workers returns the number of workers of a team that was asked for n: n itself,
// or for 0 the physical cores within the limits of the cgroup.
func Workers(n int) int {
	if n == 0 {
		return pool.Cores()
	}
	return max(n, 1)
}

// NewTeam returns a team of Workers(n) workers.
func NewTeam(k *Kernels, n int) *Team {
	p := pool.New(Workers(n))
	return &Team{Kernels: k, pool: p, scratch: make([]workerScratch, p.Workers())}
}

// Workers returns the number of workers.
func (t *Team) Workers() int { return t.pool.Workers() }

// Close ends the workers.
func (t *Team) Close() { t.pool.Close() }

// grow returns a slice of n values that reuses buf when it is large enough. The
// values are whatever was there.
func grow(buf *[]float32, n int) []float32 {
	if cap(*buf) < n {
		*buf = make([]float32, n)
	}
	return (*buf)[:n]
}

// rowsPerItem is the number of rows that one work item of an elementwise
// operation takes.
const rowsPerItem = 8

// eachRow runs f for every row, some rows per work item.
func (t *Team) eachRow(rows int, f func(row int)) {
	if rows == 1 {
		f(0)
		return
	}
	t.pool.Run((rows+rowsPerItem-1)/rowsPerItem, func(_, item int) {
		for row := item * rowsPerItem; row < min(rows, (item+1)*rowsPerItem); row++ {
			f(row)
		}
	})
}

// WorkerBytes is the scratch memory that one worker needs for weights of up to
// cols columns, heads of up to dim values of which group share a KV head, canvases
// of rows positions and a vocabulary of vocab ids.
func WorkerBytes(cols, dim, group, rows, vocab int) int64 {
	panel := max(panelRows*int64(cols), attentionBlock*int64(dim))
	scores := max(attentionRows*attentionBlock*int64(group), int64(vocab))
	values := max(int64(rows)*VocabPanel, softChunk)
	return 4 * (panel + scores + values)
}

// HeadBytes is the memory in which Head keeps the panel sums of a canvas of rows
// positions.
func HeadBytes(rows, vocab int) int64 {
	panels := (int64(vocab) + VocabPanel - 1) / VocabPanel
	return int64(rows) * panels * int64(unsafe.Sizeof(panelSums{}))
}

// SoftBytes is the memory in which SoftEmbed keeps the probabilities of a canvas
// of rows positions.
func SoftBytes(rows int) int64 { return 4 * int64(rows) * softChunk }

// ScratchInUse is the memory that the workers hold now, in bytes.
func (t *Team) ScratchInUse() int64 {
	var n int64
	for i := range t.scratch {
		s := &t.scratch[i]
		n += 4 * int64(cap(s.panel)+cap(s.scores)+cap(s.rows))
	}
	return n
}
