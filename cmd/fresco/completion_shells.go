package main

import (
	"fmt"
	"strings"

	"github.com/frescolm/fresco/internal/embedded"
)

func embeddedNames() []string {
	var names []string
	for _, m := range embedded.List() {
		names = append(names, m.Name)
	}
	return names
}

// zshScript completes with _arguments, one branch a command.
func zshScript(commands []completed) string {
	var b strings.Builder
	b.WriteString("#compdef fresco\n# zsh completion for fresco\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "\n%s() {\n", zshFunction(c.path))
		if len(c.names) > 0 {
			b.WriteString("    local state line\n    local -a commands=(\n")
			for _, child := range c.names {
				fmt.Fprintf(&b, "        %s\n", bashQuote(child.name+":"+child.help))
			}
			b.WriteString("    )\n")
		}
		b.WriteString("    _arguments -C")
		for _, f := range c.flags {
			b.WriteString(" \\\n        " + bashQuote(zshFlag(f)))
		}
		switch {
		case len(c.names) > 0:
			b.WriteString(" \\\n        '1: :->command' '*:: :->rest'\n")
			b.WriteString("    case $state in\n    command) _describe command commands ;;\n    rest)\n        case $line[1] in\n")
			for _, child := range c.names {
				fmt.Fprintf(&b, "        %s) %s ;;\n", child.name, zshFunction(strings.TrimSpace(c.path+" "+child.name)))
			}
			b.WriteString("        esac ;;\n    esac\n")
		case c.files:
			fmt.Fprintf(&b, " \\\n        '1:model:{_values model %s; _files -/}' '2:prompt:'\n", strings.Join(c.words, " "))
		case len(c.words) > 0:
			fmt.Fprintf(&b, " \\\n        '1: :(%s)'\n", strings.Join(c.words, " "))
		default:
			b.WriteString("\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n_fresco \"$@\"\n")
	return b.String()
}

func zshFunction(path string) string {
	return strings.TrimSuffix("_fresco_"+strings.ReplaceAll(path, " ", "_"), "_")
}

// zshFlag writes a flag as _arguments wants it.
func zshFlag(f flagged) string {
	help := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(f.help)
	spec := "--" + f.long + "[" + help + "]"
	switch {
	case !f.takes:
		return spec
	case f.files:
		return spec + ":value:_files"
	case len(f.words) > 0:
		return spec + ":value:(" + strings.Join(f.words, " ") + ")"
	}
	return spec + ":value:"
}

// fishScript completes with one line a word.
func fishScript(commands []completed) string {
	var b strings.Builder
	b.WriteString("# fish completion for fresco\ncomplete -c fresco -f\n")
	for _, c := range commands {
		when := fishCondition(c)
		for _, child := range c.names {
			fmt.Fprintf(&b, "complete -c fresco -n %s -a %s -d %s\n", fishQuote(when), child.name, fishQuote(child.help))
		}
		if c.path != "" && len(c.words) > 0 {
			fmt.Fprintf(&b, "complete -c fresco -n %s -a %s\n", fishQuote(when), fishQuote(strings.Join(c.words, " ")))
		}
		if c.files {
			fmt.Fprintf(&b, "complete -c fresco -n %s -F\n", fishQuote(when))
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c fresco -n %s -l %s", fishQuote(when), f.long)
			if f.short != "" {
				b.WriteString(" -s " + f.short)
			}
			switch {
			case f.files:
				b.WriteString(" -r -F")
			case f.takes:
				b.WriteString(" -x")
			}
			if len(f.words) > 0 {
				b.WriteString(" -a " + fishQuote(strings.Join(f.words, " ")))
			}
			fmt.Fprintf(&b, " -d %s\n", fishQuote(f.help))
		}
	}
	return b.String()
}

// fishCondition is true where the line has come to the command and to none of
// its subcommands.
func fishCondition(c completed) string {
	if c.path == "" {
		return "__fish_use_subcommand"
	}
	var conditions []string
	for _, word := range strings.Fields(c.path) {
		conditions = append(conditions, "__fish_seen_subcommand_from "+word)
	}
	if len(c.names) > 0 {
		var names []string
		for _, child := range c.names {
			names = append(names, child.name)
		}
		conditions = append(conditions, "not __fish_seen_subcommand_from "+strings.Join(names, " "))
	}
	return strings.Join(conditions, "; and ")
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
