// Package tensor holds the plain description of a tensor as a checkpoint
// stores it: element type, shape, bytes. It does no arithmetic; the kernels do.
package tensor
