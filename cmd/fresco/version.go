package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/frescolm/fresco/internal/kernel"
	"github.com/frescolm/fresco/internal/pool"
)

// versionCommand is "fresco version".
type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

type versionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	// Threads is what a run takes when it is not told.
	Threads int           `json:"threads"`
	CPU     string        `json:"cpu"`
	Classes []classReport `json:"kernel_classes"`
}

type classReport struct {
	Name      string `json:"name"`
	Built     bool   `json:"built"`
	Available bool   `json:"available"`
	Used      bool   `json:"used"`
	Reason    string `json:"reason"`
}

// Run tells the version and the kernel classes.
func (v *versionCommand) Run(c *console) error {
	used, err := kernel.Choose("")
	if err != nil {
		return err
	}
	version, revision := build()
	r := versionReport{
		Version: version, Revision: revision, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Threads: pool.Cores(), CPU: used.Class(),
	}
	for _, class := range kernel.Classes() {
		r.Classes = append(r.Classes, classReport{class.Name, class.Built, class.Available, class.Name == used.Class(), class.Reason})
	}
	if v.JSON {
		return writeJSON(c.out, r)
	}
	_, err = c.out.Write([]byte(r.String()))
	return err
}

// build returns the version of the program and the revision of its source, "" where
// that was not recorded.
func build() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			revision = setting.Value
		}
	}
	return info.Main.Version, revision
}

func (r versionReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fresco %s", r.Version)
	if r.Revision != "" {
		fmt.Fprintf(&b, " (%.12s)", r.Revision)
	}
	fmt.Fprintf(&b, ", %s, %s/%s, %s\n\nkernel classes, the best last:\n", r.Go, r.OS, r.Arch, plural(r.Threads, "thread", "threads"))
	for _, class := range r.Classes {
		state := class.Reason
		switch {
		case class.Used:
			state = "used"
		case class.Available:
			state = "available; FRESCO_CPU=" + class.Name + " takes it"
		}
		fmt.Fprintf(&b, "  %-8s  %s\n", class.Name, state)
	}
	return b.String()
}
