package kernel

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/canvas"
	"github.com/frescolm/fresco/internal/dtype"
)

// The check values of model.md §3.1.
func TestSoftcapValues(t *testing.T) {
	v := Vocabulary{Softcap: 30}
	z := []float32{5, 20, 30, 60, 0, -60, 1e30}
	v.cap(z)
	near(t, "soft-cap", z, []float64{4.954212, 17.483488, 22.847825, 28.920827, 0, -28.920827, 30}, 2e-6)

	z = []float32{5, -1000}
	(&Vocabulary{}).cap(z)
	sameBits(t, "no soft-cap", z, []float32{5, -1000})
}

// The order is: soft-cap, repetition, bias, temperature, masks.
func TestProcess(t *testing.T) {
	v := Vocabulary{Size: 6, Softcap: 30, Masked: []bool{false, false, false, false, true, false}}
	p := processing{temperature: 0.5, adjust: canvas.Adjustment{
		Repetition: []canvas.Factor{{ID: 0, Value: 2}, {ID: 1, Value: 2}, {ID: 4, Value: 2}},
		Bias:       []canvas.Bias{{ID: 1, Value: 1}, {ID: 3, Value: -4}, {ID: 4, Value: 100}, {ID: 5, Value: negInf}},
	}}
	raw := []float32{5, -5, 5, 20, 5, 5}
	const c5, c20 = 4.954212, 17.483488
	want := []float64{c5 / 2 / 0.5, (-c5*2 + 1) / 0.5, c5 / 0.5, (c20 - 4) / 0.5}
	z := append([]float32(nil), raw...)
	v.process(z, 0, &p)
	near(t, "processed", z[:4], want, 1e-5)
	sameBits(t, "removed", z[4:], []float32{negInf, negInf})

	// Any part of the row is processed as in the whole.
	for first := range raw {
		for last := first + 1; last <= len(raw); last++ {
			part := append([]float32(nil), raw[first:last]...)
			v.process(part, first, &p)
			sameBits(t, fmt.Sprintf("ids %d … %d", first, last-1), part, z[first:last])
		}
	}
}

func TestLogitsStoreAndLoad(t *testing.T) {
	const rows, size = 3, 300
	values := uniforms(newRandom(1), rows*size, 32)
	for _, round := range []Rounding{F32, BF16} {
		l := NewLogits(Vocabulary{Size: size}, rows, round)
		for r := range rows {
			for first := 0; first < size; first += 77 {
				n := min(77, size-first)
				l.store(r, first, values[r*size+first:][:n])
			}
		}
		for r := range rows {
			got := make([]float32, 100)
			l.load(got, r, 50)
			sameBits(t, "load", got, roundedTo(round, values[r*size+50:][:100]))
		}
	}
}

// Injected logits are the processed ones: nothing is done to them.
func TestLogitsSetAndCopy(t *testing.T) {
	const rows, size = 2, 5
	values := uniforms(newRandom(2), rows*size, 64)
	for _, round := range []Rounding{F32, BF16} {
		l := NewLogits(Vocabulary{Size: size, Softcap: 30, Masked: make([]bool, size)}, rows, round)
		if err := l.Set(values); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, rows*size)
		if err := l.Copy(got); err != nil {
			t.Fatal(err)
		}
		sameBits(t, "Copy", got, roundedTo(round, values))
		l.Processed(got[:size], 1)
		sameBits(t, "Processed", got[:size], roundedTo(round, values[size:]))

		for _, n := range []int{0, rows*size - 1, rows*size + 1} {
			if err := l.Set(make([]float32, n)); err == nil || !strings.Contains(err.Error(), "2 rows of 5 ids") {
				t.Errorf("Set of %d values: %v", n, err)
			}
			if err := l.Copy(make([]float32, n)); err == nil || !strings.Contains(err.Error(), "2 rows of 5 ids") {
				t.Errorf("Copy to %d values: %v", n, err)
			}
		}
		sameBits(t, "after a refused Set", got[:size], roundedTo(round, values[size:]))
	}
}

// After a Head, Processed has float32 values of the kept head outputs, and Copy
// rounds them for self-conditioning.
func TestLogitsAfterHead(t *testing.T) {
	const size = 300
	team := newTeam(t, 2)
	z := uniforms(newRandom(3), size, 32)
	for _, round := range []Rounding{F32, BF16} {
		vocab := Vocabulary{Size: size, Softcap: 30}
		l := NewLogits(vocab, 1, round)
		if err := l.Set(make([]float32, size)); err != nil { // Head must end the injection
			t.Fatal(err)
		}
		table := newMatrix(t, dtype.F32, size, 1, z)
		want := HeadRow{Temperature: 0.8, Candidates: canvas.Candidates{Temperature: 1}}
		team.Head(l, make([]canvas.Stats, 1), []float32{1}, table, []HeadRow{want}, &HeadScratch{})

		processed, kept := make([]float32, size), make([]float32, size)
		l.Processed(processed, 0)
		if err := l.Copy(kept); err != nil {
			t.Fatal(err)
		}
		for i, x := range roundedTo(round, z) {
			logit := 30 * math.Tanh(float64(x)/30) / float64(float32(0.8))
			near(t, fmt.Sprintf("processed logit %d", i), processed[i:i+1], []float64{logit}, 1e-5)
		}
		sameBits(t, "kept", kept, roundedTo(round, processed))
	}
}

// Reset forgets adjustments and injection, and can grow and shrink.
func TestLogitsReset(t *testing.T) {
	for _, round := range []Rounding{F32, BF16} {
		l := NewLogits(Vocabulary{Size: 4}, 1, round)
		if err := l.Set([]float32{1, 2, 3, 4}); err != nil {
			t.Fatal(err)
		}
		l.row[0].adjust.Bias = []canvas.Bias{{ID: 1, Value: 9}}
		for _, rows := range []int{3, 1, 0, 2} {
			l.Reset(rows)
			if l.injected || len(l.row) != rows {
				t.Fatalf("Reset(%d): injected %v, %d rows", rows, l.injected, len(l.row))
			}
			for r := range l.row {
				if !l.row[r].adjust.Empty() || l.row[r].temperature != 0 {
					t.Fatalf("Reset(%d): row %d is still %+v", rows, r, l.row[r])
				}
			}
			if err := l.Set(make([]float32, rows*4)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestVocabularyBytes(t *testing.T) {
	v := Vocabulary{Size: 262144}
	if got := v.Bytes(256, BF16); got != 128<<20 {
		t.Errorf("bf16: %d bytes", got)
	}
	if got := v.Bytes(256, F32); got != 256<<20 {
		t.Errorf("f32: %d bytes", got)
	}
}
