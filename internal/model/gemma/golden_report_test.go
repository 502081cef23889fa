package gemma

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// errorReport collects the largest error per kernel class, checkpoint and
// quantity.
type errorReport struct{ worst map[string]float64 }

func newErrorReport() *errorReport { return &errorReport{map[string]float64{}} }

func (r *errorReport) add(class, checkpoint, quantity string, e float64) {
	key := fmt.Sprintf("%-8s %-18s %s", class, checkpoint, quantity)
	r.worst[key] = max(r.worst[key], e)
}

func (r *errorReport) log(t *testing.T) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(r.worst)) {
		t.Logf("largest error: %-44s %.3g", key, r.worst[key])
	}
}

func unmarshal(data json.RawMessage, v any) error { return json.Unmarshal(data, v) }
