package model

import "testing"

func TestNonFiniteSaysWhere(t *testing.T) {
	for layer, want := range map[int]string{
		InEmbedding: "NaN or infinity in the embedding at position 7",
		0:           "NaN or infinity after layer 0 at position 7",
		29:          "NaN or infinity after layer 29 at position 7",
		InLogits:    "NaN or infinity in the logits at position 7",
	} {
		if got := (&NonFinite{Layer: layer, Position: 7}).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
