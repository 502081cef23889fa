//go:build !amd64 || purego

package kernel

// Without assembly for this machine there is no loop but that of plain Go.
var peakLoops map[string]peakLoop
