package safetensors

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/frescolm/fresco/internal/fixtures"
	"github.com/google/go-cmp/cmp"
)

func encode(t testing.TB, tensors map[string]Tensor) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tensors, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// openBoth opens the folder of these files from the disk and from an fs.FS,
// demands that both agree, and returns the first with its error without the
// folder's path.
func openBoth(t *testing.T, files map[string]string) (*Folder, string) {
	t.Helper()
	dir, memory := t.TempDir(), fstest.MapFS{}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		memory[name] = &fstest.MapFile{Data: []byte(data)}
	}
	disk, diskErr := OpenFolder(dir)
	read, readErr := ReadFolder(memory)
	if diskErr != nil || readErr != nil {
		if diskErr == nil || readErr == nil {
			t.Fatalf("on disk: %v; in memory: %v", diskErr, readErr)
		}
		text := strings.ReplaceAll(diskErr.Error(), dir+string(filepath.Separator), "")
		text = strings.ReplaceAll(text, dir, "the folder")
		if text != readErr.Error() {
			t.Errorf("on disk: %s; in memory: %v", text, readErr)
		}
		return nil, text
	}
	t.Cleanup(func() {
		for range 2 {
			if err := disk.Close(); err != nil {
				t.Error(err)
			}
		}
		if len(disk.Names()) != 0 {
			t.Error("a closed folder still has tensors")
		}
	})
	if d := cmp.Diff(folderContent(t, disk), folderContent(t, read)); d != "" {
		t.Error(d)
	}
	return disk, ""
}

// folderContent maps each tensor to its file and its data.
func folderContent(t *testing.T, d *Folder) map[string][2]string {
	t.Helper()
	all := map[string][2]string{}
	for _, name := range d.Names() {
		x, ok := d.Tensor(name)
		f, found := d.File(name)
		if !ok || !found {
			t.Fatalf("%s is listed but absent", name)
		}
		all[name] = [2]string{filepath.Base(f.Name()), string(x.Data)}
	}
	return all
}

func TestC14SingleFileWithoutIndex(t *testing.T) {
	d, problem := openBoth(t, map[string]string{
		SingleName:    encode(t, map[string]Tensor{"w": one("data")}),
		"config.json": "{}",
	})
	if problem != "" {
		t.Fatal(problem)
	}
	want := map[string][2]string{"w": {SingleName, "data"}}
	if diff := cmp.Diff(want, folderContent(t, d)); diff != "" {
		t.Error(diff)
	}
	if len(d.Files()) != 1 {
		t.Errorf("%d files", len(d.Files()))
	}
}

func TestC14IndexNamesAbsentShard(t *testing.T) {
	_, problem := openBoth(t, map[string]string{
		"model-00001-of-00002.safetensors": encode(t, map[string]Tensor{"a": one("data")}),
		IndexName: `{"weight_map":{"a":"model-00001-of-00002.safetensors",` +
			`"model.z":"model-00002-of-00002.safetensors","model.b":"model-00002-of-00002.safetensors"}}`,
	})
	want := "safetensors: model.safetensors.index.json: shard model-00002-of-00002.safetensors is absent; " +
		"it should hold tensor model.z, the first of 2"
	if problem != want {
		t.Errorf("got  %s\nwant %s", problem, want)
	}
}

func TestC14DuplicateKey(t *testing.T) {
	file := build(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, "xy")
	_, problem := openBoth(t, map[string]string{SingleName: string(file)})
	if want := "safetensors: model.safetensors: at byte 61: duplicate key w"; problem != want {
		t.Errorf("got  %s\nwant %s", problem, want)
	}
}

func TestShards(t *testing.T) {
	files := map[string]string{
		"s2": encode(t, map[string]Tensor{"b": one("bbbb")}),
		"s1": encode(t, map[string]Tensor{"a": one("aaaa"), "c": one("cc"), "unlisted": one("u")}),
		IndexName: `{"metadata":{"total_size":7,"more":[[{}]]},` +
			`"weight_map":{"c":"s1","b":"s2","a":"s1"}}`,
	}
	d, problem := openBoth(t, files)
	if problem != "" {
		t.Fatal(problem)
	}
	want := map[string][2]string{"a": {"s1", "aaaa"}, "b": {"s2", "bbbb"}, "c": {"s1", "cc"}, "unlisted": {"s1", "u"}}
	if diff := cmp.Diff(want, folderContent(t, d)); diff != "" {
		t.Error(diff)
	}
	if _, ok := d.Tensor("absent"); ok {
		t.Error("an absent tensor was found")
	}
	if _, ok := d.File("absent"); ok {
		t.Error("an absent tensor has a file")
	}
}

func TestFolderRefuses(t *testing.T) {
	shards := map[string]string{
		"s1": encode(t, map[string]Tensor{"a": one("aaaa")}),
		"s2": encode(t, map[string]Tensor{"b": one("bbbb")}),
	}
	tests := []struct {
		name  string
		files map[string]string // besides the shards
		want  string
	}{
		{"no model", nil, "the folder: holds neither model.safetensors nor model.safetensors.index.json"},
		{"other files", map[string]string{"x.safetensors": "", "y.safetensors": ""}, "only x.safetensors, y.safetensors"},
		{"bad single file", map[string]string{SingleName: "x"}, "safetensors: model.safetensors: 1 byte: too short"},
		{"bad shard", map[string]string{IndexName: `{"weight_map":{"a":"s1","c":"s3"}}`, "s3": "x"}, "safetensors: s3: 1 byte: too short"},
		{"empty index", map[string]string{IndexName: ""}, "safetensors: model.safetensors.index.json: at byte 0: the JSON ends early"},
		{"index is no JSON", map[string]string{IndexName: "hello"}, "at byte 0: invalid character 'h'"},
		{"index is a list", map[string]string{IndexName: "[]"}, "the index is a list, not an object"},
		{"cut index", map[string]string{IndexName: `{"weight_map":{"a":"s1"`}, "the JSON ends early"},
		{"text after the index", map[string]string{IndexName: `{"weight_map":{"a":"s1"}}{}`}, "at byte 25: text after the JSON object"},
		{"no weight_map", map[string]string{IndexName: `{"metadata":{}}`}, "no weight_map"},
		{"empty weight_map", map[string]string{IndexName: `{"weight_map":{}}`}, "weight_map is empty"},
		{"weight_map is a list", map[string]string{IndexName: `{"weight_map":["s1"]}`}, "weight_map is a list, not an object"},
		{"weight_map twice", map[string]string{IndexName: `{"weight_map":{"a":"s1"},"weight_map":{"b":"s2"}}`}, "duplicate key weight_map"},
		{"shard is a number", map[string]string{IndexName: `{"weight_map":{"a":1}}`}, "the shard of tensor a is a number, not a string"},
		{"tensor placed twice", map[string]string{IndexName: `{"weight_map":{"a":"s1","a":"s2"}}`}, "duplicate key a"},
		{"deep index", map[string]string{IndexName: `{"x":` + strings.Repeat("[", 5000)}, "nested deeper than 64"},
		{"two absent shards", map[string]string{IndexName: `{"weight_map":{"a":"s1","c":"s8","d":"s9"}}`}, "shard s8 is absent; it should hold tensor c, the first of 1; s9 absent too"},
		{"in no shard", map[string]string{IndexName: `{"weight_map":{"a":"s1","c":"s1"}}`}, "model.safetensors.index.json: tensor c is not in shard s1, where the index places it"},
		{"in the other shard", map[string]string{IndexName: `{"weight_map":{"a":"s2","b":"s2","c":"s1"}}`}, "tensor a is not in shard s2, where the index places it, but in s1"},
		{"in two shards", map[string]string{IndexName: `{"weight_map":{"a":"s1","b":"s2","c":"s3"}}`, "s3": encode(t, map[string]Tensor{"c": one("c"), "a": one("a")})}, "safetensors: s3: tensor a: is in s1 too"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := maps.Clone(shards)
			maps.Copy(files, tt.files)
			if _, problem := openBoth(t, files); !strings.Contains(problem, tt.want) {
				t.Errorf("got  %s\nwant %s", problem, tt.want)
			}
		})
	}
}

func TestShardOutsideTheFolder(t *testing.T) {
	for _, shard := range []string{"", ".", "..", "../s1", "sub/s1", "/s1", `..\\s1`, `c:s1`, `s1\u0000`, `sub//s1`} {
		t.Run(shard, func(t *testing.T) {
			_, problem := openBoth(t, map[string]string{
				"s1":      encode(t, map[string]Tensor{"a": one("aaaa")}),
				IndexName: `{"weight_map":{"a":"` + shard + `"}}`,
			})
			if !strings.Contains(problem, "tensor a: shard ") || !strings.Contains(problem, "is not the name of a file in the same folder") {
				t.Error(problem)
			}
		})
	}
}

func TestOpenFolderRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(path); err == nil || err.Error() != "safetensors: "+path+": is not a folder" {
		t.Errorf("a file: %v", err)
	}
	if _, err := OpenFolder(path + ".absent"); err == nil || !strings.Contains(err.Error(), path+".absent") {
		t.Errorf("an absent folder: %v", err)
	}
}

// TestGoldenCheckpoints opens every checkpoint folder of the fixtures, with and
// without an index, and writes each of its files anew. The subset in testdata
// has none under formats.
func TestGoldenCheckpoints(t *testing.T) {
	found := 0
	for _, group := range []string{"text/ckpt", "formats"} {
		dir := fixtures.Dir(t, group)
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if _, err := os.Stat(filepath.Join(path, "config.json")); err != nil {
				return nil
			}
			found++
			t.Run(filepath.Base(path), func(t *testing.T) { rewriteFolder(t, path) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("the fixtures hold no checkpoint")
	}
}

func rewriteFolder(t *testing.T, dir string) {
	d, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if len(d.Names()) == 0 {
		t.Error("no tensors")
	}
	for _, f := range d.Files() {
		want := contentOf(t, f)
		var b bytes.Buffer
		if err := Write(&b, want.Tensors, want.Metadata); err != nil {
			t.Fatal(err)
		}
		again, err := Parse("rewritten", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(want, contentOf(t, again)); d != "" {
			t.Errorf("%s: %s", f.Name(), d)
		}
	}
}

// An error of the file system names the whole path, as every other error does.
func TestOpenFolderIndexIsFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, IndexName)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir); err == nil || err.Error() != "safetensors: "+path+": is not a file" {
		t.Errorf("got %v", err)
	}
}
