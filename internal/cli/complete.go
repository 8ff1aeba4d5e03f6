package cli

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/transport/udp"
	"dmebench/units"
	"dmebench/workload"
)

// completionFlag is what a shell adds to a command line to learn how it may go on.
const completionFlag = "--generate-bash-completion"

// complete prints what may come next on a command line: besides the commands and flags, which the
// library knows, the values of flags, and arguments. If it prints nothing the shell offers files.
func (p *program) complete(c *cli.Context) {
	last := ""
	if len(p.words) > 1 {
		last = p.words[len(p.words)-2] // before the flag that asks
	}
	print := func(prefix string, words []string) {
		for _, w := range words {
			fmt.Fprintln(p.stdout, prefix+w)
		}
	}
	name, _, valued := strings.Cut(last, "=")
	flag := strings.HasPrefix(last, "-")
	if f := flagOf(c.Command, strings.TrimLeft(name, "-")); flag && f != nil && takesValue(f) {
		prefix := ""
		if valued {
			prefix = name + "="
		}
		print(prefix, p.values(c.Command, f.Names()[0]))
		return
	}
	cli.DefaultCompleteWithFlags(c.Command)(c)
	if argument := argumentFlags[c.Command.Name]; argument != "" && !flag {
		print("", p.values(c.Command, argument))
		if c.Command.Name == "trace" {
			print("", p.scenarioNames())
		}
	}
}

// values returns what a flag of a command may be set to, as far as that is known.
func (p *program) values(c *cli.Command, flag string) (words []string) {
	switch flag {
	case "algorithm":
		return run.Catalog(p.catalog).Names()
	case "transport":
		if c.Name == "ping" {
			return append(ping.Networks(), everything)
		}
		return units.Texts(run.Networks(), func(n run.Network) string { return n.Name })
	case "workload":
		return units.Texts(workload.Kinds(), func(k workload.Kind) string { return k.Name })
	case "set":
		return p.settings()
	case "name":
		if c.Name == "list" || c.Name == "algorithms" {
			return p.listableNames()
		}
	case "quorum":
		return quorum.Names()
	case "scenario":
		return p.scenarioNames()
	case "claim":
		for _, a := range p.catalog {
			for _, k := range claim.Of(a) {
				words = append(words, k.ID(a))
			}
		}
	case "resource":
		return run.Resources()
	case "udp-layer":
		return units.Texts(udp.Layers(), func(l udp.Layer) string { return string(l) })
	case "format":
		if c.Name == "trace" {
			return traceFormats()
		}
		return exportFormats()
	case "formats":
		return units.Texts(plots.Formats(), func(f plots.Format) string { return string(f) })
	case "metric":
		return units.Texts(runs.Metrics(), func(m runs.Metric) string { return m.Name })
	case "across", "col":
		return runs.Dimensions()
	case "test":
		return append(units.Texts(ping.Tests(), func(t ping.Test) string { return string(t) }), everything)
	case "warmup":
		return []string{runs.DefaultWarmup}
	}
	return words
}

// settings returns the options of the algorithms, networks and workloads that a command
// line names so far, with the values that are known.
func (p *program) settings() (words []string) {
	named := func(name string) bool {
		return slices.ContainsFunc(p.words, func(w string) bool { return strings.EqualFold(w[strings.LastIndex(w, "=")+1:], name) })
	}
	var options []dme.Option
	for _, a := range p.catalog {
		if named(a.Name) {
			options = append(options, a.Options...)
		}
	}
	for _, n := range run.Networks() {
		if named(n.Name) {
			options = append(options, n.Options...)
		}
	}
	for _, k := range workload.Kinds() {
		if named(k.Name) {
			options = append(options, k.Options...)
		}
	}
	for _, o := range options {
		words = append(words, o.Name+"=")
		for _, example := range o.Examples() {
			words = append(words, o.Name+"="+example)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// The scripts know nothing of commands: they ask the program.
var (
	//go:embed completion/dmebench.bash
	bashScript string
	//go:embed completion/dmebench.zsh
	zshScript string
	//go:embed completion/dmebench.fish
	fishScript string
)

func (p *program) completionCommand() *cli.Command {
	scripts := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	shells := []string{"bash", "zsh", "fish"}
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that lets a shell complete commands, flags and their values",
		ArgsUsage: "SHELL",
		UsageText: "source <(dmebench completion bash)          in ~/.bashrc\n" +
			"source <(dmebench completion zsh)           in ~/.zshrc, after compinit\n" +
			"dmebench completion fish | source           in ~/.config/fish/config.fish",
		Hidden:       true, // help says how to use it
		BashComplete: func(*cli.Context) { fmt.Fprintln(p.stdout, strings.Join(shells, "\n")) },
		Action: func(c *cli.Context) error {
			script, ok := scripts[strings.ToLower(c.Args().First())]
			if !ok {
				return usage("completion: %w", units.UnknownName("shell", c.Args().First(), shells, units.Listed(shells)))
			}
			_, err := io.WriteString(p.stdout, script)
			return err
		},
	}
}
