package convert

import (
	"errors"
	"fmt"
	"slices"

	"github.com/frescolm/fresco/internal/models"
)

// readBack opens the file that was written as a run would, and says what of the
// configuration reads otherwise than in the source.
func readBack(s *models.Source, out string) (notes []string, err error) {
	written, err := models.OpenSource(out)
	if err != nil {
		return nil, fmt.Errorf("the file that was written cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, written.Close()) }()
	before, after := sorted(s.Config.Tokens.End), sorted(written.Config.Tokens.End)
	if !slices.Equal(before, after) {
		notes = append(notes, fmt.Sprintf("an answer ends at the ids %v; in the source, at %v: a GGUF file has room for three, and its tokenizer's markers end answers as well", after, before))
	}
	return notes, nil
}

func sorted(ids []int32) []int32 { return slices.Sorted(slices.Values(ids)) }
