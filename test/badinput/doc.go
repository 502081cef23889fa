// Package badinput holds tests that give the built program input that is wrong,
// and look at what a person sees: exit code, standard output, standard error.
//
// The tests are grouped by where the input comes from: the files of weights
// (checkpoints_test.go), the two configs (configs_test.go), tokenizer.json
// (tokenizers_test.go), a GGUF file (gguf_test.go), the command line (flags_test.go, prompts_test.go) and
// the file system (filesystem_test.go). run_test.go builds and runs the program;
// folder_test.go and tensors_test.go damage a copy of the embedded checkpoint.
//
// Errors are compared as whole texts, because the text is what a person has to
// go by: it must name the object and the place.
package badinput
