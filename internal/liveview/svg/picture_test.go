package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/embedded"
	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/frescolm/fresco/internal/models"
)

// The picture in the documentation is what its command makes.
func TestPictureIsCurrent(t *testing.T) {
	if _, ok := embedded.Find(models.Default); !ok {
		t.Skip("this program embeds no model")
	}
	want, err := os.ReadFile(filepath.Join(fixtures.Root(), "docs", "live.svg"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "live.svg")
	if err := draw(models.Default, "puzzle.txt", 0, 3, path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("docs/live.svg is not what the command in doc.go makes")
	}
	decoder := xml.NewDecoder(strings.NewReader(string(got)))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}
