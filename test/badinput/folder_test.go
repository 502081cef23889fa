package badinput

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/frescolm/fresco/internal/embedded"
)

const (
	configFile     = "config.json"
	generationFile = "generation_config.json"
	tokenizerFile  = "tokenizer.json"
	weightsFile    = "model.safetensors"
	indexFile      = "model.safetensors.index.json"
)

// A folder is the content of a checkpoint by the names of its files.
type folder map[string][]byte

// An edit does damage to a folder.
type edit func(t testing.TB, f folder)

// writeFolder writes the embedded checkpoint with edits into a new folder.
func writeFolder(t testing.TB, edits ...edit) string {
	t.Helper()
	m, ok := embedded.Find("sudoku")
	if !ok {
		t.Skip("built without the embedded model")
	}
	f := folder{}
	entries, err := fs.ReadDir(m.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if f[entry.Name()], err = fs.ReadFile(m.FS, entry.Name()); err != nil {
			t.Fatal(err)
		}
	}
	for _, change := range edits {
		change(t, f)
	}
	dir := t.TempDir()
	for name, data := range f {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// whole replaces a file.
func whole(file, text string) edit {
	return func(_ testing.TB, f folder) { f[file] = []byte(text) }
}

// absent removes a file.
func absent(file string) edit {
	return func(_ testing.TB, f folder) { delete(f, file) }
}

// cut keeps the first n bytes of a file.
func cut(file string, n int) edit {
	return func(_ testing.TB, f folder) { f[file] = f[file][:n] }
}

// replaced replaces the first occurrence of a text, which must be there.
func replaced(file, old, new string) edit {
	return func(t testing.TB, f folder) {
		if !bytes.Contains(f[file], []byte(old)) {
			t.Fatalf("%s has no %q", file, old)
		}
		f[file] = bytes.Replace(f[file], []byte(old), []byte(new), 1)
	}
}

// removed stands for no value in set.
type removed struct{}

// set gives the value at a path such as "text_config.layer_types.0" in a JSON
// file; the objects and lists on the way must be there. removed{} takes the key
// out.
func set(file, path string, value any) edit {
	return func(t testing.TB, f folder) {
		t.Helper()
		decoder := json.NewDecoder(bytes.NewReader(f[file]))
		decoder.UseNumber()
		var root any
		if err := decoder.Decode(&root); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		keys := strings.Split(path, ".")
		at := root
		for _, key := range keys[:len(keys)-1] {
			at = child(t, at, key)
		}
		last := keys[len(keys)-1]
		switch at := at.(type) {
		case map[string]any:
			at[last] = value
			if _, ok := value.(removed); ok {
				delete(at, last)
			}
		case []any:
			at[number(t, last)] = value
		default:
			t.Fatalf("%s: nothing has a %s", file, path)
		}
		data, err := json.MarshalIndent(root, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		f[file] = data
	}
}

func child(t testing.TB, at any, key string) any {
	t.Helper()
	switch at := at.(type) {
	case map[string]any:
		if v, ok := at[key]; ok {
			return v
		}
	case []any:
		return at[number(t, key)]
	}
	t.Fatalf("nothing has a %s", key)
	return nil
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// inShards splits model.safetensors into shards by name and writes an index.
// place says in which shard a tensor is.
func inShards(place func(name string) string) edit {
	return func(t testing.TB, f folder) {
		shards := map[string][]stored{}
		weightMap := map[string]string{}
		for _, s := range readTensors(t, f[weightsFile]) {
			shard := place(s.name)
			shards[shard] = append(shards[shard], s)
			weightMap[s.name] = shard
		}
		for shard, list := range shards {
			f[shard] = writeTensors(t, list)
		}
		delete(f, weightsFile)
		index, err := json.Marshal(map[string]any{"weight_map": weightMap})
		if err != nil {
			t.Fatal(err)
		}
		f[indexFile] = index
	}
}

const (
	firstShard  = "model-00001-of-00002.safetensors"
	secondShard = "model-00002-of-00002.safetensors"
)

// halves puts the decoder's tensors into the first shard, and the others into
// the second.
func halves(name string) string {
	if strings.HasPrefix(name, "model.decoder.") {
		return firstShard
	}
	return secondShard
}
