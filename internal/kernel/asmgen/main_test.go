package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCheckedIn regenerates the assembly and compares it with what is checked in.
func TestCheckedIn(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s is not what asmgen writes; run \"go run ./asmgen\" in internal/kernel", name)
		}
	}
	others, err := filepath.Glob("../*.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range others {
		if files()[filepath.Base(path)] == "" {
			t.Errorf("%s is written by nobody", path)
		}
	}
}
