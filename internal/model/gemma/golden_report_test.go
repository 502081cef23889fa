package gemma

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// errorReport collects the largest error per checkpoint and quantity.
type errorReport struct{ worst map[string]float64 }

func newErrorReport() *errorReport { return &errorReport{map[string]float64{}} }

func (r *errorReport) add(checkpoint, quantity string, e float64) {
	key := fmt.Sprintf("%-18s %s", checkpoint, quantity)
	r.worst[key] = max(r.worst[key], e)
}

func (r *errorReport) log(t *testing.T) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(r.worst)) {
		t.Logf("largest error: %-34s %.3g", key, r.worst[key])
	}
}

func unmarshal(data json.RawMessage, v any) error { return json.Unmarshal(data, v) }
