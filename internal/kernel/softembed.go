package kernel

// softChunk is the number of ids whose probabilities exist at one time while the
// soft embedding is formed: 4,096 ids of 256 rows are 4 MB.
const softChunk = 4096

// softColumns is the number of columns of the soft embedding in one work item,
// unless a block of the table's format is longer.
const softColumns = 64

// softRow is what turns the kept logits of a row into probabilities.
type softRow struct {
	top, sum float32
	round    Rounding
}

// SoftScratch is the memory of SoftEmbed that outlives a call.
type SoftScratch struct {
	rows    []softRow
	weights []float32
}

// SoftEmbed computes the signal of self-conditioning (model.md §4): dst =
// softmax(kept logits)·table·s for each row, with the probabilities, the product
// and the scaled product rounded. Each value is a sum over ascending ids.
func (t *Team) SoftEmbed(dst []float32, l *Logits, table Matrix, s float32, scratch *SoftScratch) {
	rows, size, n := l.rows, l.vocab.Size, table.Cols
	if cap(scratch.rows) < rows {
		scratch.rows = make([]softRow, rows)
	}
	scratch.rows = scratch.rows[:rows]
	t.pool.Run(rows, func(worker, r int) {
		scratch.rows[r] = l.softmaxSum(r, &t.scratch[worker])
		clear(dst[r*n : (r+1)*n])
	})
	weights := grow(&scratch.weights, rows*softChunk)
	width := max(softColumns, table.format.BlockElements())
	columns := (n + width - 1) / width
	for first := 0; first < size; first += softChunk {
		ids := min(softChunk, size-first)
		t.pool.Run(rows, func(worker, r int) {
			z := grow(&t.scratch[worker].rows, ids)
			l.kept(z, r, first)
			t.set.softWeights(weights[r*ids:(r+1)*ids], z, &scratch.rows[r])
		})
		t.pool.Run(columns, func(worker, item int) {
			c := item * width
			k := min(width, n-c)
			t.softColumns(dst, l.round, table, weights, rows, first, ids, c, k, worker)
		})
	}
	t.eachRow(rows, func(r int) {
		for i, v := range dst[r*n : (r+1)*n] {
			dst[r*n+i] = l.round.value(float32(l.round.value(v) * s))
		}
	})
}

// softmaxSum is the first pass over a row: its largest kept logit and the sum of
// exponentials, added in panels.
func (l *Logits) softmaxSum(r int, w *workerScratch) softRow {
	z := grow(&w.scores, l.vocab.Size)
	l.kept(z, r, 0)
	top, _ := largest(z, 0)
	var sum float64
	for first := 0; first < len(z); first += VocabPanel {
		var part float64
		for _, v := range z[first:min(len(z), first+VocabPanel)] {
			part += float64(exp32(v - top))
		}
		sum += part
	}
	return softRow{top, float32(sum), l.round}
}

// softWeightsGeneric turns kept logits into probabilities.
func softWeightsGeneric(dst, z []float32, row *softRow) {
	for i, v := range z {
		dst[i] = row.round.value(exp32(v-row.top) / row.sum)
	}
}

// softColumns adds the ids first … first+ids-1 to columns c … c+k-1 of all rows.
func (t *Team) softColumns(dst []float32, round Rounding, table Matrix, weights []float32, rows, first, ids, c, k, worker int) {
	const unpackIDs = 64
	n := table.Cols
	for at := 0; at < ids; at += unpackIDs {
		count := min(unpackIDs, ids-at)
		panel := grow(&t.scratch[worker].panel, unpackIDs*k)
		table.unpackColumns(panel, first+at, count, c, k, round)
		for r := range rows {
			t.set.accumulate(dst[r*n+c:r*n+c+k], panel, k, weights[r*ids+at:r*ids+at+count])
		}
	}
}
