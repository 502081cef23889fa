//go:build !amd64 || purego

package kernel

// Without assembly for this machine the generic class is the only one.
var avx2Set, avx512Set *set
