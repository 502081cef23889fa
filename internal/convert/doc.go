// Package convert writes checkpoints: real ones in other number formats, and
// synthetic ones.
//
// [Quantize] reads a folder or a GGUF file and writes a GGUF file. plan.go says
// which format each tensor gets, metadata.go what goes in front of the tensors,
// chunks.go how the elements of one tensor are converted, write.go how a file
// comes about: checked for room first, one tensor after another, at once or not at
// all. report.go accounts for every tensor.
//
// [Synthesize] makes a checkpoint of random weights with the shapes of a real one:
// shapes.go its configuration, random.go the distribution, synth.go the rest.
//
// Memory does not depend on the size of the model: the source is mapped, and a few
// chunks of it are converted at a time. The same source gives the same bytes,
// whatever the number of workers.
package convert
