package main

import (
	"os"
	"reflect"

	"github.com/alecthomas/kong"
	"github.com/frescolm/fresco"
)

const about = `Runs block-diffusion language models on this machine's CPU.

A canvas of random tokens is refined, all positions at once, until it is an
answer. The first thing to try needs no model and no prompt:

    fresco run`

// grammar is the whole command line.
type grammar struct {
	Run        runCommand        `cmd:"" help:"Answer a prompt."`
	List       listCommand       `cmd:"" aliases:"models" help:"List the models that are part of this program."`
	Inspect    inspectCommand    `cmd:"" help:"Say what a checkpoint is, what it needs, and whether it fits this machine."`
	Quantize   quantizeCommand   `cmd:"" help:"Write a checkpoint as a GGUF file with smaller weights."`
	Synth      synthCommand      `cmd:"" help:"Make a checkpoint of random weights, to measure with."`
	Eval       evalCommand       `cmd:"" help:"Measure a model on a task with an exact score."`
	Bench      benchCommand      `cmd:"" help:"Measure kernels, or the steps of a model, beside the ceiling of this machine."`
	Version    versionCommand    `cmd:"" help:"Say what this program is and which kernels it uses here."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
}

// newParser builds the parser of the command line.
func newParser(c *console) (*kong.Kong, error) {
	return kong.New(&grammar{},
		kong.Name("fresco"),
		kong.Description(about),
		kong.Writers(c.out, c.err),
		kong.Exit(func(code int) { os.Exit(code) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "answer", Title: "Answer:"},
			{Key: "diffusion", Title: "Diffusion:"},
			{Key: "ar", Title: "Autoregressive:"},
			{Key: "machine", Title: "Machine:"},
			{Key: "output", Title: "Output:"},
		}),
		// So that "-1" reaches the flag that it was given to, which can say
		// what is wrong with it.
		kong.WithHyphenPrefixedParameters(true),
		kong.TypeMapper(reflect.TypeFor[fresco.Setting](), settingMapper{}),
		kong.TypeMapper(reflect.TypeFor[whole](), wholeMapper{}),
		kong.TypeMapper(reflect.TypeFor[choice](), choiceMapper{}),
	)
}
