// Package convert writes checkpoints in other number formats.
//
// [Quantize] reads a folder or a GGUF file and writes a GGUF file. plan.go says
// which format each tensor gets, metadata.go what goes in front of the tensors,
// chunks.go how the elements of one tensor are converted, write.go how a file
// comes about: checked for room first, one tensor after another, at once or not at
// all. report.go accounts for every tensor.
//
// Memory does not depend on the size of the model: the source is mapped, and a few
// chunks of it are converted at a time. The same source gives the same bytes,
// whatever the number of workers.
package convert
