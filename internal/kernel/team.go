package kernel

import "github.com/frescolm/fresco/internal/pool"

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

// NewTeam returns a team of the given number of workers, at least one.
func NewTeam(k *Kernels, workers int) *Team {
	p := pool.New(workers)
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
// cols columns, canvases of rows positions and a vocabulary of vocab ids.
func WorkerBytes(cols, rows, vocab int) int64 {
	return 4 * (panelRows*int64(cols) + max(int64(rows)*VocabPanel, softChunk) + int64(vocab))
}

// SoftBytes is the memory in which SoftEmbed keeps the probabilities of a canvas
// of rows positions.
func SoftBytes(rows int) int64 { return 4 * int64(rows) * softChunk }
