// Package gemma runs DiffusionGemma on the CPU: a backend of internal/model.
//
// The text backbone is used twice with the same weights (model.md §0): as a
// causal encoder that commits keys and values (encode.go) and as a
// bidirectional decoder that refines a canvas and reads them (denoise.go). What
// differs is in a pass (pass.go): which layer scalars apply, what a row may
// see, and where its keys and values go.
//
//	config.go       config.json, both of its forms
//	rope.go         its rotary parameters
//	generation.go   generation_config.json
//	slots.go        which tensors a checkpoint must have
//	weights.go      the tensors as the layers use them
//	inspect.go      what can be said about a checkpoint without loading it
//	pass.go         one run of the layers
//	encode.go       the causal pass: prefill, commit, autoregressive token
//	denoise.go      the bidirectional pass over a canvas
//	layer.go        one transformer layer: the order of its parts
//	attention.go    projections, norms, rotary embedding, attention
//	mlp.go          the dense branch
//	experts.go      router and expert branch
//	selfcond.go     self-conditioning
//	head.go         the final norm; logits and statistics are the kernels' work
//	pages.go        the pages of the KV cache
//	layercache.go   one layer's pages of one sequence: write, read, cut
//	sequence.go     a sequence: Truncate, Fork, Release; a canvas's logits
//	retention.go    what a sliding layer stores
//	clock.go        the time of a pass by part, where it is measured
//	work.go         what a pass computes and reads, by part
//	memory.go       the memory plan
//	backend.go      Step: items in, results out
//
// The layer functions take the weights and the input explicitly and keep no
// state of their own; scratch memory belongs to the forward value.
package gemma
