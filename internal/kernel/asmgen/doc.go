// Asmgen writes the assembly kernels of internal/kernel. Run it in that folder
// after a change here:
//
//	go run ./asmgen
//
// The files are checked in; a test regenerates and compares them.
package main
