package badinput

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files of weights that cannot be read, or are not what the config promises.
func TestCheckpoints(t *testing.T) {
	runDamaged(t, []damaged{
		{
			name:  "truncated in the data",
			edits: []edit{cut(weightsFile, 1_000_000)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: tensor model.decoder.layers.1.mlp.up_proj.weight: data_offsets [920972, 986508]: 2340 bytes past end of file"},
		},
		{
			name:  "truncated in the header",
			edits: []edit{cut(weightsFile, 100)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: header of 15824 bytes: only 92 follow"},
		},
		{
			name:  "empty file",
			edits: []edit{whole(weightsFile, "")},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: 0 bytes: too short for the length of a header"},
		},
		{
			name:  "header longer than any",
			edits: []edit{whole(weightsFile, "\xff\xff\xff\xff\xff\xff\xff\x7f{}")},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: header of 9223372036854775807 bytes: the limit is 100000000"},
		},
		{
			name:  "some other file",
			edits: []edit{whole(weightsFile, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 2893908\n")},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: is a Git LFS pointer; the file that it stands for has not been fetched"},
		},
		{
			name:  "header is no JSON",
			edits: []edit{whole(weightsFile, string(withHeader([]byte("{'a': 1}"))))},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: at byte 9: invalid character '\\''"},
		},
		{
			name:  "no tensors",
			edits: []edit{whole(weightsFile, string(withHeader([]byte("{}      "))))},
			want:  want{code: 3, like: `fresco: MODEL: 119 tensors are missing:\n(  missing model\.decoder\.\S+\n){10}  and 109 more`},
		},
		{
			name:  "unknown type",
			edits: []edit{replaced(weightsFile, `"dtype":"BF16"`, `"dtype":"Q4_K"`)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: tensor model.decoder.embed_tokens.weight: at byte 85: unknown dtype Q4_K"},
		},
		{
			name:  "type wider than the data",
			edits: []edit{replaced(weightsFile, `"dtype":"BF16"`, `"dtype":"F32" `)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: tensor model.decoder.embed_tokens.weight: data_offsets [0, 98304] hold 98304 bytes, but shape [384 128] of F32 needs 196608"},
		},
		{
			name:  "size beyond all numbers",
			edits: []edit{whole(weightsFile, string(withHeader([]byte(`{"w":{"dtype":"BF16","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`))))},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: tensor w: shape [4294967296 4294967296]: the number of elements overflows"},
		},
		{
			name:  "negative size",
			edits: []edit{whole(weightsFile, string(withHeader([]byte(`{"w":{"dtype":"BF16","shape":[-1],"data_offsets":[0,0]}}`))))},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: tensor w: at byte 38: shape holds -1, not a whole number from 0 to 2^64-1"},
		},
		{
			name:  "name that would clear the screen",
			edits: []edit{whole(weightsFile, string(withHeader([]byte(`{"\u001b[2J":{"dtype":"BF16","shape":[1],"data_offsets":[0,4]}}`)))+"1234")},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors: tensor \"\\x1b[2J\": data_offsets [0, 4] hold 4 bytes, but shape [1] of BF16 needs 2"},
		},
		{
			name:  "wrong shape",
			edits: []edit{tensors(shaped("model.decoder.layers.2.self_attn.q_proj.weight", 128, 128))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.2.self_attn.q_proj.weight in model.safetensors: shape [128 128], expected [256 128]"},
		},
		{
			name:  "same elements in another shape",
			edits: []edit{tensors(shaped("model.decoder.layers.0.mlp.down_proj.weight", 256, 128))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.0.mlp.down_proj.weight in model.safetensors: shape [256 128], expected [128 256]"},
		},
		{
			name:  "layer scalar without dimensions",
			edits: []edit{tensors(shaped("model.decoder.layers.0.layer_scalar"))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.0.layer_scalar in model.safetensors: shape [], expected [1]"},
		},
		{
			name:  "embedding with too few rows",
			edits: []edit{tensors(shaped("model.decoder.embed_tokens.weight", 383, 128))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.embed_tokens.weight in model.safetensors: shape [383 128], expected [384 128]"},
		},
		{
			name:  "integers",
			edits: []edit{tensors(typed("model.decoder.layers.1.self_attn.k_proj.weight", "I32", 4))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.1.self_attn.k_proj.weight in model.safetensors: type I32, expected F32 or BF16 or F16"},
		},
		{
			name:  "eight bits without scales",
			edits: []edit{tensors(typed("model.decoder.layers.1.experts.gate_up_proj", "F8_E4M3", 1))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.1.experts.gate_up_proj in model.safetensors: type F8_E4M3, expected F32 or BF16 or F16"},
		},
		{
			name:  "missing tensor",
			edits: []edit{tensors(without("model.decoder.layers.3.post_attention_layernorm.weight"))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing model.decoder.layers.3.post_attention_layernorm.weight"},
		},
		{
			name:  "missing layer scalar of the encoder",
			edits: []edit{tensors(without("model.encoder.language_model.layers.3.layer_scalar"))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing model.encoder.language_model.layers.3.layer_scalar (encoder and decoder have a layer scalar each, and both must be there)"},
		},
		{
			name:  "missing layer scalar of the decoder",
			edits: []edit{tensors(without("model.decoder.layers.3.layer_scalar"))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing model.decoder.layers.3.layer_scalar (encoder and decoder have a layer scalar each, and both must be there)"},
		},
		{
			name:  "misspelt tensor",
			edits: []edit{tensors(renamed("model.decoder.layers.0.self_attn.k_norm.weight", "model.decoder.layers.0.self_attn.k_nrom.weight"))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is missing:\n  missing model.decoder.layers.0.self_attn.k_norm.weight; nearest: model.decoder.layers.0.self_attn.k_nrom.weight"},
		},
		{
			name:  "stored under both names",
			edits: []edit{tensors(copied("model.decoder.norm.weight", "model.encoder.language_model.norm.weight"))},
			want:  want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.norm.weight in model.safetensors: stored again as model.encoder.language_model.norm.weight: only one of the two names may be there"},
		},
		{
			name: "many tensors missing",
			edits: []edit{tensors(renamedAll(func(name string) string {
				return strings.Replace(name, ".layers.", ".blocks.", 1)
			}))},
			want: want{code: 3, like: `fresco: MODEL: 113 tensors are missing:\n  missing model\.decoder\.layers\.0\.input_layernorm\.weight; nearest: model\.decoder\.blocks\.0\.input_layernorm\.weight, .*\n(  missing .*; nearest: .*\n){9}  and 103 more`},
		},
		{
			name:  "surplus tensor",
			edits: []edit{tensors(with(stored{"model.decoder.layers.0.self_attn.q_proj.bias", "BF16", []int{1}, []byte{0, 0}}))},
			want:  want{answer: true, notes: before("note: 1 surplus tensor is not used: model.decoder.layers.0.self_attn.q_proj.bias")},
		},
		{
			name:  "surplus tensors, one with a name that would clear the screen",
			edits: []edit{tensors(with(stored{"\x1b[2Jone", "BF16", []int{1}, []byte{0, 0}}), with(stored{"two", "BF16", []int{0}, nil}))},
			want:  want{answer: true, notes: before(`note: 2 surplus tensors are not used, the first of them "\x1b[2Jone"`)},
		},
	})
}

// Shards and their index.
func TestShards(t *testing.T) {
	runDamaged(t, []damaged{
		{
			name:  "good shards",
			edits: []edit{inShards(halves)},
			want:  want{answer: true, notes: setAside},
		},
		{
			name:  "absent shard",
			edits: []edit{inShards(halves), absent(secondShard)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: shard model-00002-of-00002.safetensors is absent; it should hold tensor model.encoder.embed_vision.embedding_projection.weight, the first of 21"},
		},
		{
			name:  "truncated shard",
			edits: []edit{inShards(halves), cut(secondShard, 9000)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model-00002-of-00002.safetensors: tensor model.encoder.vision_tower.encoder.layers.0.self_attn.o_proj.linear.weight: data_offsets [6314, 6826]: 485 bytes past end of file"},
		},
		{
			name:  "index without weight_map",
			edits: []edit{inShards(halves), whole(indexFile, `{"metadata": {"total_size": 5}}`)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: no weight_map"},
		},
		{
			name:  "index that places nothing",
			edits: []edit{inShards(halves), whole(indexFile, `{"weight_map": {}}`)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: weight_map is empty"},
		},
		{
			name:  "index is no JSON",
			edits: []edit{inShards(halves), whole(indexFile, `{"weight_map": {"a": "b",}}`)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: at byte 25: invalid character '}' looking for beginning of object key string"},
		},
		{
			name:  "empty index",
			edits: []edit{inShards(halves), whole(indexFile, "")},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: at byte 0: the JSON ends early"},
		},
		{
			name:  "index with a number for a shard",
			edits: []edit{inShards(halves), whole(indexFile, `{"weight_map": {"w": 1}}`)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: at byte 21: the shard of tensor w is a number, not a string"},
		},
		{
			name:  "tensor in the wrong shard",
			edits: []edit{inShards(halves), replaced(indexFile, `"model.decoder.norm.weight":"`+firstShard, `"model.decoder.norm.weight":"`+secondShard)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: tensor model.decoder.norm.weight is not in shard model-00002-of-00002.safetensors, where the index places it, but in MODEL/model-00001-of-00002.safetensors"},
		},
		{
			name:  "shard outside the folder",
			edits: []edit{inShards(halves), replaced(indexFile, firstShard, "../"+firstShard)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: at byte 51: tensor model.decoder.embed_tokens.weight: shard \"../model-00001-of-00002.safetensors\" is not the name of a file in the same folder"},
		},
		{
			name:  "tensor in no shard",
			edits: []edit{inShards(halves), replaced(indexFile, `"weight_map":{`, `"weight_map":{"model.extra":"`+firstShard+`",`)},
			want:  want{code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: tensor model.extra is not in shard model-00001-of-00002.safetensors, where the index places it"},
		},
		{
			name:  "tensor in two shards",
			edits: []edit{inShards(halves), appendTensor(secondShard, stored{"model.decoder.norm.weight", "BF16", []int{1}, []byte{0, 0}})},
			want:  want{code: 3, stderr: "safetensors: MODEL/model-00002-of-00002.safetensors: tensor model.decoder.norm.weight: is in MODEL/model-00001-of-00002.safetensors too"},
		},
	})
}

// appendTensor adds a tensor to a file of weights.
func appendTensor(file string, s stored) edit {
	return func(t testing.TB, f folder) { f[file] = writeTensors(t, append(readTensors(t, f[file]), s)) }
}

// rejected is the end of a run whose canvas had NaN or infinity at a place, and
// had it again when it was drawn anew.
func rejected(place string) want {
	return want{code: 1, like: `(note: .*\n){2}warning: canvas 1: NaN or infinity ` + place + `; it was drawn again\n2 canvases, .* \(2 × guard\) .*\nfresco: the answer was rejected by a guard: canvas 1: NaN or infinity ` + place}
}

// Numbers that are none. Those of vectors are found at loading, those of matrices
// when they are computed with; the headers, all that inspect reads, do not show
// them.
func TestNonFiniteWeights(t *testing.T) {
	headersAreGood := 0
	var cases []damaged
	for _, c := range []struct {
		name    string
		tensor  string
		element int
		value   float64
		want
	}{
		{"NaN in a norm", "model.decoder.layers.2.input_layernorm.weight", 5, math.NaN(), want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.2.input_layernorm.weight in model.safetensors: element 5 of 128 is NaN"}},
		{"NaN in a large matrix", "model.decoder.layers.3.mlp.up_proj.weight", 4321, math.NaN(), want{code: 1, notes: setAside, stderr: "engine: prompt: NaN or infinity after layer 3 at position 0"}},
		{"NaN in the head norm of the keys", "model.decoder.layers.1.self_attn.k_norm.weight", 3, math.NaN(), want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.1.self_attn.k_norm.weight in model.safetensors: element 3 of 32 is NaN"}},
		{"NaN in the last layer's keys", "model.decoder.layers.4.self_attn.k_proj.weight", 3, math.NaN(), want{code: 1, notes: setAside, stderr: "engine: prompt: NaN or infinity after layer 4 at position 2"}},
		{"infinity in a large matrix", "model.decoder.layers.0.self_attn.v_proj.weight", 100, math.Inf(1), want{code: 1, notes: setAside, stderr: "engine: prompt: NaN or infinity after layer 0 at position 0"}},
		{"minus infinity in the router", "model.decoder.layers.1.router.proj.weight", 7, math.Inf(-1), want{code: 1, notes: setAside, stderr: "engine: prompt: NaN or infinity after layer 1 at position 1"}},
		{"NaN in the router's scale", "model.decoder.layers.1.router.per_expert_scale", 0, math.NaN(), want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.1.router.per_expert_scale in model.safetensors: element 0 of 4 is NaN"}},
		{"NaN in the router", "model.decoder.layers.1.router.proj.weight", 7, math.NaN(), want{code: 1, notes: setAside, stderr: "engine: prompt: NaN or infinity after layer 1 at position 0"}},
		{"NaN in the layer scalar of the encoder", "model.encoder.language_model.layers.0.layer_scalar", 0, math.NaN(), want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.encoder.language_model.layers.0.layer_scalar in model.safetensors: element 0 of 1 is NaN"}},
		{"NaN in the layer scalar of the decoder", "model.decoder.layers.0.layer_scalar", 0, math.NaN(), want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.layers.0.layer_scalar in model.safetensors: element 0 of 1 is NaN"}},
		{"NaN in the embedding of <bos>", "model.decoder.embed_tokens.weight", 2*128 + 9, math.NaN(), want{code: 1, notes: setAside, stderr: "engine: prompt: NaN or infinity in the embedding at position 0"}},
		{"NaN in the embedding of a token that is not asked about", "model.decoder.embed_tokens.weight", 383 * 128, math.NaN(), rejected("in the logits at position 3")},
		{"a huge number in a large matrix", "model.decoder.layers.2.self_attn.q_proj.weight", 0, 3e38, want{code: 1, notes: setAside, stderr: "engine: prompt: NaN or infinity after layer 2 at position 0"}},
		{"a huge number in a layer scalar", "model.decoder.layers.2.layer_scalar", 0, 3e38, rejected("after layer 2 at position 3")},
		{"NaN in the final norm", "model.decoder.norm.weight", 1, math.NaN(), want{code: 3, stderr: "MODEL: 1 tensor is unusable:\n  model.decoder.norm.weight in model.safetensors: element 1 of 128 is NaN"}},
		{"NaN in the self-conditioning", "model.decoder.self_conditioning.up_proj.weight", 1, math.NaN(), rejected("in the embedding at position 3")},
	} {
		cases = append(cases, damaged{
			name: c.name, edits: []edit{tensors(overwritten(c.tensor, c.element, c.value))},
			inspected: &headersAreGood, want: c.want,
		})
	}
	runDamaged(t, cases)
}

// Paths that lead to no checkpoint.
func TestNoCheckpoint(t *testing.T) {
	empty := func(_ testing.TB, f folder) { clear(f) }
	runDamaged(t, []damaged{
		{
			name:  "empty folder",
			edits: []edit{empty},
			want:  want{code: 3, stderr: "no config.json in MODEL"},
		},
		{
			name:  "no weights",
			edits: []edit{absent(weightsFile)},
			want:  want{code: 3, stderr: "safetensors: MODEL: holds neither model.safetensors nor model.safetensors.index.json"},
		},
		{
			name:  "weights under another name",
			edits: []edit{func(_ testing.TB, f folder) { f["weights.safetensors"] = f[weightsFile]; delete(f, weightsFile) }},
			want:  want{code: 3, stderr: "safetensors: MODEL: holds neither model.safetensors nor model.safetensors.index.json, only weights.safetensors"},
		},
		{
			name:  "weights in another format",
			edits: []edit{func(_ testing.TB, f folder) { f["pytorch_model.bin"] = f[weightsFile]; delete(f, weightsFile) }},
			want:  want{code: 3, stderr: "safetensors: MODEL: holds neither model.safetensors nor model.safetensors.index.json"},
		},
	})
	for _, c := range []struct {
		name, below string
		want
	}{
		{"the file of weights", weightsFile, want{code: 3, stderr: "MODEL/model.safetensors: is a file, but not a GGUF file; a model is a GGUF file, or the folder that holds its config.json"}},
		{"nothing at the path", "nowhere", want{code: 1, stderr: "model folder MODEL/nowhere: no such file or directory"}},
		{"below a file", configFile + "/x", want{code: 1, stderr: "model folder MODEL/config.json/x: not a directory"}},
		{"a name too long for the system", strings.Repeat("long", 2000), want{code: 1, like: `fresco: model folder MODEL/(long)*(l|lo|lon)?…: file name too long`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := writeFolder(t)
			c.check(t, fresco(t, nil, "run", filepath.Join(dir, c.below), "hi"), dir)
		})
	}
	t.Run("a folder in the place of a file", func(t *testing.T) {
		for file, w := range map[string]want{
			weightsFile:    {code: 3, stderr: "safetensors: MODEL/model.safetensors: is a directory, not a file"},
			configFile:     {code: 3, stderr: "MODEL: config.json is no file"},
			tokenizerFile:  {code: 3, stderr: "MODEL: tokenizer.json is no file"},
			generationFile: {code: 3, stderr: "MODEL: generation_config.json is no file"},
			indexFile:      {code: 3, stderr: "safetensors: MODEL/model.safetensors.index.json: is not a file"},
		} {
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				dir := writeFolder(t, absent(file))
				if err := os.Mkdir(filepath.Join(dir, file), 0o755); err != nil {
					t.Fatal(err)
				}
				w.check(t, fresco(t, nil, "run", dir, "hi"), dir)
			})
		}
	})
}
