//go:build !noembed

package embedded

import (
	"embed"
	"io/fs"
)

// folders holds one folder per model.
//
//go:embed sudoku
var folders embed.FS

//go:embed sudoku/example.txt
var sudokuExample string

//go:embed sudoku/README.md
var sudokuCard string

var models = []Model{
	{Name: "sudoku", FS: folder("sudoku"), Example: sudokuExample, Card: sudokuCard},
}

func folder(name string) fs.FS {
	sub, err := fs.Sub(folders, name)
	if err != nil {
		panic(err) // only for a name that is no path
	}
	return sub
}
