package kernel

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"
)

// EnvClass is the environment variable that names the default kernel class.
const EnvClass = "FRESCO_CPU"

// Kernels is one kernel class, chosen. It holds no state and may be shared.
type Kernels struct {
	class string
	set   set
}

// Class returns the name of the class.
func (k *Kernels) Class() string { return k.class }

// A set holds the functions that differ from class to class. Each has the
// generic one of the same name as its definition.
type set struct {
	product     func(dst []float32, ldd int, x []float32, ldx, rows int, w []float32, n, k int)
	accumulate  func(dst []float32, v []float32, ldv int, p []float32)
	rmsNorm     func(dst, x, w []float32, eps float32, round Rounding)
	geluMul     func(dst, gate, up []float32, round Rounding)
	softmax     func(p []float32, top float32, round Rounding) float32
	vocabPanel  func(row *vocabRow, first int, z []float32)
	softWeights func(dst, z []float32, row *softRow)
}

// A Class describes one kernel class on this machine.
type Class struct {
	Name string
	// Built is true when this program has kernels of the class.
	Built bool
	// Available is true when it is built and the machine can run it.
	Available bool
	// Reason says why not, "" when available.
	Reason string
}

// classes lists the kernel classes from the plainest to the best, with what the
// machine must have. A class without a set is known by name only.
var classes = []struct {
	name    string
	needs   string
	machine func() bool
	set     *set
}{
	{"generic", "", func() bool { return true }, &generic},
	{"neon", "arm64 with dot product", func() bool { return runtime.GOARCH == "arm64" && cpu.ARM64.HasASIMDDP }, nil},
	{"avx2", "AVX2 and FMA", func() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }, avx2Set},
	{"avxvnni", "AVX-VNNI", func() bool { return cpu.X86.HasAVXVNNI }, nil},
	{"avx512", "AVX-512 F, BW and VL", hasAVX512, avx512Set},
	{"vnni", "AVX-512 VNNI", func() bool { return hasAVX512() && cpu.X86.HasAVX512VNNI }, nil},
	{"amx", "AMX tiles with bf16", func() bool { return cpu.X86.HasAMXTile && cpu.X86.HasAMXBF16 }, nil},
}

func hasAVX512() bool {
	return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
}

// Classes lists all kernel classes, from the plainest to the best, with what
// this program and this machine make of them.
func Classes() []Class {
	list := make([]Class, 0, len(classes))
	for _, c := range classes {
		class := Class{Name: c.name, Built: c.set != nil}
		switch has := c.machine(); {
		case c.set != nil && has:
			class.Available = true
		case c.set == nil && has:
			class.Reason = "this program has no kernels of this class yet"
		default:
			class.Reason = "this machine lacks " + c.needs
		}
		list = append(list, class)
	}
	return list
}

// A ClassError says that a kernel class cannot be used.
type ClassError struct {
	Name   string
	Reason string
	// Available lists the classes that can be used.
	Available []string
}

func (e *ClassError) Error() string {
	return fmt.Sprintf("kernel class %q: %s (available here: %s)", e.Name, e.Reason, strings.Join(e.Available, ", "))
}

// Choose returns the kernels of the named class. With "" it takes the class that
// FRESCO_CPU names, or else the best one that is available. An unknown or
// unavailable name is a *ClassError.
func Choose(name string) (*Kernels, error) {
	if name == "" {
		name = os.Getenv(EnvClass)
	}
	list := Classes()
	if name == "" {
		for i, c := range slices.Backward(list) {
			if c.Available {
				return &Kernels{class: c.Name, set: *classes[i].set}, nil
			}
		}
	}
	refused := &ClassError{Name: name, Reason: "no such class"}
	for i, c := range list {
		if c.Available {
			refused.Available = append(refused.Available, c.Name)
		}
		if c.Name != name {
			continue
		}
		if c.Available {
			return &Kernels{class: c.Name, set: *classes[i].set}, nil
		}
		refused.Reason = c.Reason
	}
	return nil, refused
}

// generic is the reference: plain Go, the definition of every operation.
var generic = set{
	product:     productGeneric,
	accumulate:  accumulateGeneric,
	rmsNorm:     rmsNormGeneric,
	geluMul:     geluMulGeneric,
	softmax:     softmaxGeneric,
	vocabPanel:  vocabPanelGeneric,
	softWeights: softWeightsGeneric,
}
