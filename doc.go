// Package fresco runs block-diffusion language models on a CPU.
//
// Open loads a model: an embedded one by its name, or by its path a checkpoint
// folder in the Hugging Face layout or a GGUF file. Generate turns a prompt into an
// ordered stream of events; Answer collects them.
//
//	m, err := fresco.Open("sudoku", nil)
//	…
//	defer m.Close()
//	result, err := m.Answer(ctx, fresco.Options{Prompt: puzzle})
//
// # Events
//
// Started comes first and tells the seed. Prefilled reports the progress of the
// prompt. Then, for every canvas, a Draft after each denoising step (when asked
// for) and one Committed with text that will not change any more. Finished is the
// last. In autoregressive mode there are no drafts, and a Committed is one token.
//
// Answer does not check what a model says. Check does for a task with rules; the
// examples, which are in example_test.go, show how a wrong answer is drawn again.
//
// # Reproducing an answer
//
// Randomness is a function of the seed, the answer attempt and the place in the
// answer. Two calls with the same options, checkpoint, arithmetic and kernel class
// give the same bytes, whatever the number of threads, the prefill chunk and
// whether drafts are watched. A call without a seed draws one and reports it.
package fresco
