package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
	}
}

// files returns the text of every assembly file by its name.
func files() map[string]string {
	return map[string]string{
		"product_avx2_amd64.s":        product(avx2),
		"product_avx512_amd64.s":      product(avx512),
		"accumulate_avx2_amd64.s":     accumulate(avx2),
		"accumulate_avx512_amd64.s":   accumulate(avx512),
		"elementwise_avx2_amd64.s":    elementwise(avx2),
		"elementwise_avx512_amd64.s":  elementwise(avx512),
		"multiplyadds_avx2_amd64.s":   multiplyAdds(avx2),
		"multiplyadds_avx512_amd64.s": multiplyAdds(avx512),
	}
}
