package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// placement is one line of an index: this tensor is in this shard.
type placement struct {
	tensor, shard string
}

// parseIndex reads the JSON of a model.safetensors.index.json and returns its
// weight_map in the order of the file. Everything else in it is skipped: the
// total_size of published checkpoints is often wrong.
func parseIndex(raw []byte) ([]placement, error) {
	r, err := newJSONTokens(raw, 0)
	if err != nil {
		return nil, err
	}
	var placements []placement
	found := false
	err = r.object("the index", func(key string) error {
		if key != "weight_map" {
			return r.skip()
		}
		found = true
		return r.object("weight_map", func(name string) error {
			shard, err := r.text("the shard of tensor " + label(name))
			if err != nil {
				return err
			}
			if !plainFileName(shard) {
				return r.errorf("tensor %s: shard %q is not the name of a file in the same folder", label(name), shard)
			}
			placements = append(placements, placement{tensor: name, shard: shard})
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("no weight_map")
	}
	if len(placements) == 0 {
		return nil, errors.New("weight_map is empty")
	}
	return placements, nil
}

// plainFileName reports whether name stays in its folder on every system.
func plainFileName(name string) bool {
	return name != "." && fs.ValidPath(name) && !strings.ContainsAny(name, "/\\:\x00")
}

// shardsOf lists the shards in the order in which they are first named.
func shardsOf(placements []placement) []string {
	var shards []string
	seen := map[string]bool{}
	for _, p := range placements {
		if !seen[p.shard] {
			seen[p.shard] = true
			shards = append(shards, p.shard)
		}
	}
	return shards
}

// checkShardsExist returns an error that names the first absent shard and the
// first tensor that it should hold.
func checkShardsExist(fsys fs.FS, placements []placement) error {
	var absent []string
	for _, shard := range shardsOf(placements) {
		_, err := fs.Stat(fsys, shard)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			absent = append(absent, shard)
		case err != nil:
			return err
		}
	}
	if len(absent) == 0 {
		return nil
	}
	first, n := "", 0
	for _, p := range placements {
		if p.shard != absent[0] {
			continue
		}
		if n == 0 {
			first = p.tensor
		}
		n++
	}
	more := ""
	if len(absent) > 1 {
		more = fmt.Sprintf("; %s absent too", strings.Join(absent[1:], ", "))
	}
	return fmt.Errorf("shard %s is absent; it should hold tensor %s, the first of %d%s", absent[0], label(first), n, more)
}
