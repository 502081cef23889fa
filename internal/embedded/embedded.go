package embedded

import (
	"io/fs"
	"slices"
)

// A Model is a checkpoint folder inside the program.
type Model struct {
	// Name is what people call it, and the name of its folder.
	Name string
	// FS is the folder.
	FS fs.FS
	// Example is a prompt to show the model with.
	Example string
	// Card is the model card, in Markdown.
	Card string
}

// List returns the embedded models in alphabetical order; none in a program
// built with the tag noembed.
func List() []Model { return slices.Clone(models) }

// Find returns the embedded model of that name.
func Find(name string) (Model, bool) {
	i := slices.IndexFunc(models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return models[i], true
}
