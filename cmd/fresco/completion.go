package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand is "fresco completion".
type completionCommand struct {
	Shell choice `arg:"" of:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is what "fresco completion --help" says after the flags.
func (completionCommand) Help() string {
	return `Examples:

    fresco completion bash > ~/.local/share/bash-completion/completions/fresco
    fresco completion zsh > "${fpath[1]}/_fresco"
    fresco completion fish > ~/.config/fish/completions/fresco.fish`
}

// Run prints the script.
func (s *completionCommand) Run(c *console, parser *kong.Kong) error {
	commands := commandsOf(parser.Model.Node, nil)
	scripts := map[choice]func([]completed) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	_, err := c.out.Write([]byte(scripts[s.Shell](commands)))
	return err
}

// completed is one command as a completion script sees it.
type completed struct {
	// path leads to the command, "" for the program itself. A command with
	// aliases is listed once for each name.
	path, help string
	// names are its subcommands.
	names []named
	flags []flagged
	// words are the fixed words that its first argument takes.
	words []string
	// files is true when an argument may be a file or folder.
	files bool
}

type named struct{ name, help string }

type flagged struct {
	long, short, help string
	// takes is true when the flag has a value; words are the fixed ones, files
	// says that it may be a file.
	takes bool
	words []string
	files bool
}

// commandsOf lists a command and those below it.
func commandsOf(node *kong.Node, path []string) []completed {
	this := completed{path: strings.Join(path, " "), help: node.Help}
	for _, flag := range node.Flags {
		this.flags = append(this.flags, flagOf(flag))
	}
	if len(path) > 0 { // flags of the program itself go everywhere
		this.flags = append(this.flags, flagged{long: "help", short: "h", help: "Show context-sensitive help."})
	}
	for _, argument := range node.Positional {
		this.words = append(this.words, wordsOf(argument)...)
		switch argument.Name {
		case "model":
			this.words, this.files = append(this.words, embeddedNames()...), true
		}
	}
	var below []completed
	for _, child := range node.Children {
		for _, name := range append([]string{child.Name}, child.Aliases...) {
			this.names = append(this.names, named{name, child.Help})
			below = append(below, commandsOf(child, append(path[:len(path):len(path)], name))...)
		}
	}
	return append([]completed{this}, below...)
}

func flagOf(flag *kong.Flag) flagged {
	f := flagged{long: flag.Name, help: flag.Help, takes: !flag.IsBool(), words: wordsOf(flag.Value)}
	if flag.Short != 0 {
		f.short = string(flag.Short)
	}
	if flag.Tag.Has("off") {
		f.words = append(f.words, "off")
	}
	switch flag.Name {
	case "infill", "file":
		f.files = true
	case "model":
		f.words, f.files = embeddedNames(), true
	}
	return f
}

func wordsOf(value *kong.Value) []string {
	var words []string
	if value.Tag.Has("of") {
		words = strings.Split(value.Tag.Get("of"), ",")
	}
	return words
}

// bashScript completes with a function that finds the command on the line.
func bashScript(commands []completed) string {
	var b strings.Builder
	b.WriteString(`# bash completion for fresco
_fresco() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${COMP_WORDS[i]}" in
`)
	for _, c := range commands {
		for _, child := range c.names {
			fmt.Fprintf(&b, "        %s) path=%s ;;\n", bashQuote(c.path+" "+child.name), bashQuote(strings.TrimSpace(c.path+" "+child.name)))
		}
	}
	b.WriteString("        esac\n    done\n    case \"$path:$before\" in\n")
	for _, c := range commands {
		for _, f := range c.flags {
			if !f.takes {
				continue
			}
			pattern := bashQuote(c.path + ":--" + f.long)
			reply := ""
			if len(f.words) > 0 {
				reply = "COMPREPLY+=($(compgen -W " + bashQuote(strings.Join(f.words, " ")) + " -- \"$word\")); "
			}
			if f.files {
				reply += "COMPREPLY+=($(compgen -f -- \"$word\")); "
			}
			fmt.Fprintf(&b, "    %s) %sreturn ;;\n", pattern, reply)
		}
	}
	b.WriteString("    esac\n    case \"$path\" in\n")
	for _, c := range commands {
		var plain, dashed []string
		for _, child := range c.names {
			plain = append(plain, child.name)
		}
		plain = append(plain, c.words...)
		for _, f := range c.flags {
			dashed = append(dashed, "--"+f.long)
		}
		files := ""
		if c.files {
			files = " COMPREPLY+=($(compgen -f -- \"$word\"));"
		}
		fmt.Fprintf(&b, "    %s)\n        if [[ $word == -* ]]; then COMPREPLY=($(compgen -W %s -- \"$word\"))\n        else COMPREPLY=($(compgen -W %s -- \"$word\"));%s fi ;;\n",
			bashQuote(c.path), bashQuote(strings.Join(dashed, " ")), bashQuote(strings.Join(plain, " ")), files)
	}
	b.WriteString("    esac\n}\ncomplete -o filenames -F _fresco fresco\n")
	return b.String()
}

func bashQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
