// Command fresco runs block-diffusion language models on a CPU. This package is
// the command line and nothing else: its grammar, what it prints and where,
// signals, and exit codes. docs/cli.md describes it.
package main
