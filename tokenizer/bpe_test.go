package tokenizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/frescolm/fresco/internal/fixtures"
)

// openFixture loads the tokenizer of the fixture folder.
func openFixture(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := Open(filepath.Join(fixtures.Dir(t, "tokenizer"), "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// mergeNaively is the definition of byte-pair encoding: again and again, join
// the leftmost of the pairs with the lowest rank.
func mergeNaively(ids []int32, table *merges) []int32 {
	ids = slices.Clone(ids)
	for {
		best, at := int32(math.MaxInt32), -1
		for i := range len(ids) - 1 {
			if rank, ok := table.ranks[pairKey(ids[i], ids[i+1])]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return ids
		}
		ids[at] = table.results[best]
		ids = slices.Delete(ids, at+1, at+2)
	}
}

// TestMergeAgainstDefinition draws merge lists over three letters, where ranks
// conflict in every way, and compares the heap with the definition.
func TestMergeAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := vocabulary{ids: map[string]int32{}, limit: 1 << 20}
		for i, letter := range []string{"a", "b", "c"} {
			if err := v.add(letter, int32(i)); err != nil {
				t.Fatal(err)
			}
		}
		table := merges{ranks: map[uint64]int32{}}
		for range rapid.IntRange(0, 12).Draw(t, "merges") {
			left := rapid.SampledFrom(v.pieces).Draw(t, "left")
			right := rapid.SampledFrom(v.pieces).Draw(t, "right")
			if _, ok := v.ids[left+right]; !ok {
				if err := v.add(left+right, int32(len(v.pieces))); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := table.ranks[pairKey(v.ids[left], v.ids[right])]; !ok {
				if err := table.add([]byte(left+right), len(left), &v); err != nil {
					t.Fatal(err)
				}
			}
		}
		letters := rapid.SliceOfN(rapid.Int32Range(0, 2), 1, 40).Draw(t, "letters")
		var m merger
		for i, id := range letters {
			m.add(id, Span{i, i + 1})
		}
		m.merge(&table, nil)
		var got []int32
		end := 0
		for s := range m.result() {
			got = append(got, s.id)
			if s.span.Start != end || s.span.End-s.span.Start != len(v.pieces[s.id]) {
				t.Fatalf("token %s has span %v after %d", v.pieces[s.id], s.span, end)
			}
			end = s.span.End
		}
		if diff := cmp.Diff(mergeNaively(letters, &table), got); diff != "" {
			t.Fatalf("ids of %v with %v (-want +got):\n%s", letters, v.pieces, diff)
		}
	})
}

// TestMergeWork bounds the comparisons and moves of the heap on texts of one
// megabyte that are a single input of the merging, or none.
func TestMergeWork(t *testing.T) {
	fixture := openFixture(t)
	const n = 1 << 20
	random := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, n)
	for i := range letters {
		letters[i] = 'a' + byte(random.IntN(26))
	}
	tests := []struct {
		name    string
		tok     *Tokenizer
		text    string
		symbols int // of the input of the merging
	}{
		{"one word", fixture, string(letters), n},
		{"repeated word", fixture, strings.Repeat("internationalisation", n/20), n / 20 * 20},
		{"a", fixture, strings.Repeat("a", n), n},
		{"a with merges", small.load(t), strings.Repeat("a", n), n},
		{"spaces", fixture, strings.Repeat(" ", n), n},
		{"newlines", fixture, strings.Repeat("\n", n), 0},
		{"bytes", fixture, strings.Repeat("\xff", n), n},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := test.tok.encode(test.text, EncodeOptions{}, false)
			if got := len(e.merger.symbols); got != test.symbols {
				t.Fatalf("%d symbols in one merge, want %d: the text was split", got, test.symbols)
			}
			bound := int(4 * n * math.Log2(n))
			if e.merger.heap.work > bound {
				t.Errorf("%d steps in the heap, want at most 4·n·log2(n) = %d", e.merger.heap.work, bound)
			}
			t.Logf("%d ids, %.2f·n·log2(n) steps", len(e.ids), float64(e.merger.heap.work)/(n*math.Log2(n)))
			if strings.HasPrefix(test.text, "\xff") {
				return
			}
			if got := test.tok.Decode(e.ids, false); got != test.text {
				t.Errorf("the text does not come back")
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(fixtures.Dir(b, "tokenizer"), "tokenizer.json"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tok := openFixture(b)
	code := strings.Repeat("\tfor i := range values { // the café's sum\n\t\ttotal += float32(values[i] * weights[i])\n\t}\n", 1000)
	for name, text := range map[string]string{"code": code, "word": strings.Repeat("internationalisation", 5000)} {
		b.Run(fmt.Sprintf("%s/%dkB", name, len(text)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.Encode(text, EncodeOptions{})
			}
		})
	}
}
