package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/frescolm/fresco/internal/dtype"
	"github.com/frescolm/fresco/internal/tensor"
)

// BenchmarkLinear is the dense MLP product of the full-size model, 256 × 2,112 ×
// 2,816 in float32.
func BenchmarkLinear(b *testing.B) {
	const rows, n, k = 256, 2112, 2816
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			kernels, err := Choose("generic")
			if err != nil {
				b.Fatal(err)
			}
			team := NewTeam(kernels, threads)
			defer team.Close()
			w, err := NewMatrix(tensor.Tensor{DType: dtype.F32, Shape: []int{n, k}, Data: make([]byte, n*k*4)})
			if err != nil {
				b.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 1))
			x := make([]float32, rows*k)
			for i := range x {
				x[i] = random.Float32() - 0.5
			}
			dst := make([]float32, rows*n)
			for b.Loop() {
				team.Linear(dst, x, rows, w, F32)
			}
			flops := 2 * float64(rows) * n * k * float64(b.N)
			b.ReportMetric(flops/b.Elapsed().Seconds()/1e9/float64(threads), "GFLOP/s/core")
		})
	}
}
