// Package embedded holds the models that are part of the program: whole
// checkpoint folders in the Hugging Face layout, with what a first run needs
// beside them: prompt.json (how the model wants to be asked; package chat reads
// it), example.txt (a prompt that it answers well) and README.md (its model
// card).
//
// Each folder below this one is a model, named like the folder. The build tag
// noembed leaves all of them out.
package embedded
