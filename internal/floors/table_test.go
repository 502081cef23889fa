package floors

// A floor is a group of packages that stand side by side.
type floor struct {
	name     string
	packages []house
}

// A house is one package with what it may import.
type house struct {
	// path is below the module's, "." for its root.
	path string
	// may lists the packages of this module, all of a lower floor; beside lists
	// those of the same floor. Test files are free, as far as Go lets them.
	may, beside []string
	// modules lists what may be imported from other modules.
	modules []string
}

const (
	ansi = "github.com/charmbracelet/x/ansi"
	term = "github.com/charmbracelet/x/term"
	kong = "github.com/alecthomas/kong"
	sys  = "golang.org/x/sys"
	cmp  = "github.com/google/go-cmp"
)

// plan is the house from the top floor to the ground. A package imports only
// what its line says, and that lies on a lower floor unless it is named as
// standing beside it.
//
// When a new package or a new import breaks the tests: put the package on the
// lowest floor on which its imports are below it, and give it the shortest line
// that it can live with. An import that points up means that something stands on
// the wrong floor; do not give it a line.
var plan = []floor{
	{"programs: flags, printing, exit codes", []house{
		{
			path:    "cmd/fresco",
			may:     []string{".", "internal/bench", "internal/constraint", "internal/convert", "internal/embedded", "internal/eval", "internal/kernel", "internal/liveview", "internal/machine", "internal/model", "internal/models", "internal/pool", "internal/weights"},
			modules: []string{kong, ansi, term},
		},
		{path: "internal/kernel/asmgen"},
		{path: "internal/liveview/svg", may: []string{"internal/canvas", "internal/chat", "internal/diffusion", "internal/embedded", "internal/engine", "internal/liveview", "internal/models"}},
	}},
	{"the public face: nothing internal imports it", []house{
		{path: ".", may: []string{"internal/canvas", "internal/chat", "internal/constraint", "internal/diffusion", "internal/engine", "internal/model", "internal/models", "internal/rng", "tokenizer"}},
	}},
	{"what is built on finished answers and on events", []house{
		{
			path:   "internal/convert",
			may:    []string{"gguf", "internal/machine", "internal/model", "internal/pool", "internal/quant", "internal/rng", "safetensors"},
			beside: []string{"internal/models"},
		},
		{path: "internal/eval", may: []string{"internal/engine", "internal/jsonfile", "internal/sudoku"}},
		{path: "internal/liveview", may: []string{"internal/engine"}, modules: []string{ansi}},
		{path: "internal/models", may: []string{"gguf", "internal/chat", "internal/embedded", "internal/engine", "internal/jsonfile", "internal/model", "internal/model/gemma", "internal/weights", "tokenizer"}},
	}},
	{"requests: canvases, events, limits, guards", []house{
		{path: "internal/engine", may: []string{"internal/canvas", "internal/constraint", "internal/diffusion", "internal/model", "tokenizer"}},
	}},
	{"the algorithm: statistics in, decisions out, never a tensor", []house{
		{path: "internal/diffusion", may: []string{"internal/canvas", "internal/rng"}},
		{path: "internal/constraint", may: []string{"internal/canvas", "internal/rng"}},
	}},
	{"text: what a person says becomes a prompt", []house{
		{path: "internal/chat", may: []string{"internal/jsonfile", "internal/sudoku", "tokenizer"}},
	}},
	{"measurement: what kernels and backends take", []house{
		{path: "internal/bench", may: []string{"internal/canvas", "internal/dtype", "internal/kernel", "internal/machine", "internal/model", "internal/quant"}},
	}},
	{"backends: models behind the seam", []house{
		{path: "internal/model/gemma", may: []string{"gguf", "internal/canvas", "internal/dtype", "internal/jsonfile", "internal/kernel", "internal/model", "internal/quant", "internal/weights"}},
		{path: "internal/model/fake", may: []string{"internal/canvas", "internal/model", "internal/rng"}},
		{path: "internal/model/conformance", may: []string{"internal/canvas", "internal/model"}, modules: []string{cmp}},
	}},
	{"the seam between engine and compute", []house{
		{path: "internal/model", may: []string{"gguf", "internal/canvas", "internal/quant", "internal/weights"}},
	}},
	{"weights by name, arithmetic by row: neither knows a model", []house{
		{path: "internal/weights", may: []string{"gguf", "internal/dtype", "internal/quant", "safetensors"}},
		{path: "internal/kernel", may: []string{"internal/canvas", "internal/dtype", "internal/pool", "internal/quant", "internal/rng", "internal/tensor"}, modules: []string{sys}},
	}},
	{"file formats, useful alone: they export only their own and standard types", []house{
		{path: "safetensors", may: []string{"internal/dtype", "internal/mmap", "internal/tensor"}},
		{path: "gguf", may: []string{"internal/mmap"}},
		{path: "tokenizer", may: []string{"internal/jsonfile"}},
	}},
	{"leaves", []house{
		{path: "internal/canvas"},
		{path: "internal/dtype"},
		{path: "internal/embedded"},
		{path: "internal/jsonfile"},
		{path: "internal/machine", modules: []string{sys}},
		{path: "internal/mmap", modules: []string{sys}},
		{path: "internal/pool", beside: []string{"internal/machine"}},
		{path: "internal/rng"},
		{path: "internal/sudoku"},
		{path: "internal/tensor", beside: []string{"internal/dtype"}},
		{path: "internal/quant", beside: []string{"internal/dtype"}},
	}},
	{"tests alone: no other code may import these", []house{
		{path: "internal/fixtures"},
		{path: "internal/floors"},
		{path: "test/badinput"},
	}},
}
