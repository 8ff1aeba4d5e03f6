package cli

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/internal/cli/schema"
	"dmebench/internal/platform/suggest"
	"dmebench/internal/platform/terminal"
	"dmebench/internal/runtime/live"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/transport/udp"
	"dmebench/workload"
)

// completeCommand is what the scripts of 'dmebench completion' call:
//
//	dmebench __complete bash LINE POINT
//	dmebench __complete zsh|fish WORD…    the last is the one to be completed
const completeCommand = "__complete"

// askForFiles is the line that asks the shell for the names of files.
const askForFiles = ":files"

// candidate is a word that could stand at the end of a command line.
type candidate struct{ word, meaning string }

// complete prints how a command line may go on, a line for each way. Whatever is
// wrong with it, there is nothing to be said: a person is still writing it.
func (p *program) complete(root *cli.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	shell, words := args[0], args[1:]
	cut := ""
	if shell == "bash" {
		if len(words) != 2 {
			return nil
		}
		words = splitLine(words[0], words[1])
		// What bash takes for a word begins after these.
		last := words[len(words)-1]
		cut = last[:strings.LastIndexAny(last, "=:")+1]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	found, files := p.candidates(root, words)
	var out strings.Builder
	for _, c := range found {
		meaning, _, _ := strings.Cut(c.meaning, "\n")
		switch shell {
		case "bash":
			fmt.Fprintln(&out, strings.TrimPrefix(c.word, cut))
		case "zsh":
			fmt.Fprintf(&out, "%s:%s\n", strings.ReplaceAll(c.word, ":", `\:`), meaning)
		default:
			fmt.Fprintf(&out, "%s\t%s\n", c.word, meaning)
		}
	}
	if files {
		fmt.Fprintln(&out, askForFiles)
	}
	_, err := p.stdout.Write([]byte(out.String()))
	return err
}

// splitLine returns the words of a line up to the cursor without the first, the
// program; the last is the one that the cursor is at, "" after a space.
func splitLine(line, point string) []string {
	if at, err := strconv.Atoi(point); err == nil && at >= 0 && at < len(line) {
		line = line[:at]
	}
	var words []string
	var word strings.Builder
	quote := rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && (r == ' ' || r == '\t'):
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
		default:
			word.WriteRune(r)
		}
	}
	return append(words, word.String())[min(1, len(words)):]
}

// candidates returns how the last word may go on, and whether it may be the name of a
// file.
func (p *program) candidates(root *cli.Command, words []string) (all []candidate, files bool) {
	before, last := words[:len(words)-1], words[len(words)-1]
	if len(before) > 0 && strings.EqualFold(before[0], "help") {
		before = before[1:]
	}
	v, err := takeApart(root, before)
	if err != nil && len(v.path) == 0 {
		return nil, false // of a command that there is not
	}
	keep := func(prefix string, list []candidate) {
		for _, c := range list {
			if word := prefix + c.word; strings.HasPrefix(strings.ToLower(word), strings.ToLower(last)) {
				all = append(all, candidate{word, c.meaning})
			}
		}
	}
	if v.awaits != nil {
		list, files := p.values(v, v.awaits, last)
		keep(listPrefix(v.awaits, last), list)
		return all, files
	}
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(last, "-") && !v.closed {
		if f := lookupFlag(v.command(), strings.TrimLeft(name, "-")); f != nil {
			list, files := p.values(v, f, value)
			keep(name+"="+listPrefix(f, value), list)
			return all, files
		}
	}
	if strings.HasPrefix(last, "-") && !v.closed {
		for _, f := range v.command().Flags {
			_, meaning := placeholder(f)
			keep("", []candidate{{"--" + f.Names()[0], meaning}})
		}
		keep("", []candidate{{"--help", "what this command does"}})
		return all, false
	}
	if len(v.rest) == 0 {
		for _, c := range v.command().Subcommands {
			keep("", []candidate{{c.Name, c.Usage}})
		}
		if len(v.path) == 0 {
			keep("", []candidate{{"help", "what a command does"}})
		}
	}
	a, takes := arguments(v.name())
	if !takes {
		return all, v.command().ArgsUsage != "" && len(v.path) > 0
	}
	if v.is(a.flag) && !a.many || len(v.rest) > 0 && !a.many {
		return all, false
	}
	list, files := p.values(v, lookupFlag(v.command(), a.flag), last)
	keep("", list)
	if v.name() == "trace" {
		keep("", p.scenarioNames())
	}
	return all, files
}

// listPrefix is what stands before the value that is being written, in a list with
// commas between.
func listPrefix(f cli.Flag, value string) string {
	switch f.Names()[0] {
	case "algorithm", "transport", "workload", "formats":
		if _, one := f.(*cli.StringFlag); !one || f.Names()[0] == "formats" {
			return value[:strings.LastIndex(value, ",")+1]
		}
	}
	return ""
}

// values returns what a flag may be set to, as far as that is known, and whether it
// may be a file.
func (p *program) values(v *invocation, f cli.Flag, value string) (list []candidate, files bool) {
	plain := func(words []string) []candidate {
		var all []candidate
		for _, w := range words {
			all = append(all, candidate{word: w})
		}
		return all
	}
	if !takesValue(f) {
		return plain([]string{"true", "false"}), false
	}
	switch f.Names()[0] {
	case "algorithm":
		for _, a := range p.catalog {
			list = append(list, candidate{a.Name, a.Title})
		}
		return list, false
	case "transport":
		if v.name() == "ping" {
			return plain(append(ping.Networks(), everything)), false
		}
		for _, n := range run.Networks() {
			list = append(list, candidate{n.Name, n.Help})
		}
		return list, false
	case "workload":
		for _, k := range workload.Kinds() {
			list = append(list, candidate{k.Name, k.Help})
		}
		return list, false
	case "set":
		return p.settingCandidates(v, value), false
	case "name":
		if v.path[0].Name == "list" {
			return p.listableNames(), false
		}
	case "quorum":
		return plain(quorum.Names()), false
	case "scenario":
		return p.scenarioNames(), false
	case "claim":
		for _, a := range p.catalog {
			for _, c := range a.Claims {
				list = append(list, candidate{a.ClaimID(c), c.Formula})
			}
		}
		return list, false
	case "resource":
		return plain(run.Resources()), false
	case "udp-layer":
		for _, l := range udp.Layers() {
			list = append(list, candidate{word: string(l)})
		}
		return list, false
	case "format":
		if v.name() == "trace" {
			return plain(traceFormats()), false
		}
		return plain(exportFormats()), false
	case "formats":
		for _, x := range plots.Formats() {
			list = append(list, candidate{word: string(x)})
		}
		return list, false
	case "metric":
		for _, m := range runs.Metrics() {
			list = append(list, candidate{m.Name, ""})
		}
		return list, false
	case "across", "col":
		return plain(runs.Dimensions()), false
	case "test":
		for _, t := range ping.Tests() {
			list = append(list, candidate{word: string(t)})
		}
		return append(list, candidate{word: everything}), false
	case "warmup":
		return plain([]string{runs.DefaultWarmup}), false
	}
	switch name, _ := placeholder(f); name {
	case "FILE", "DIR", "PATH":
		return nil, true
	}
	return nil, false
}

// settingCandidates returns the options of what has been chosen so far, and once an
// option is named, its values.
func (p *program) settingCandidates(v *invocation, value string) (list []candidate) {
	chosen := func(flag, otherwise string) []string {
		var names []string
		for _, g := range v.flags {
			if g.name == flag {
				names = append(names, listed([]string{g.value})...)
			}
		}
		if a, takes := arguments(v.name()); takes && a.flag == flag {
			names = append(names, v.rest...)
		}
		if names == nil && otherwise != "" {
			names = []string{otherwise}
		}
		return names
	}
	var options []dme.Option
	for _, name := range chosen("algorithm", "") {
		if a, err := p.catalog.Lookup(name); err == nil {
			options = append(options, a.Options...)
		}
	}
	if v.name() != "check" { // which has links of its own
		for _, name := range chosen("transport", runs.DefaultTransport) {
			if n, err := run.LookupNetwork(name); err == nil {
				options = append(options, n.Options...)
			}
		}
		for _, name := range chosen("workload", runs.DefaultWorkload) {
			if k, err := workload.Lookup(name); err == nil {
				options = append(options, k.Options...)
			}
		}
	}
	name, _, valued := strings.Cut(value, "=")
	for _, o := range options {
		if !valued {
			list = append(list, candidate{o.Name + "=", o.Help})
		} else if strings.EqualFold(o.Name, name) {
			for _, example := range o.Examples() {
				list = append(list, candidate{name + "=" + example, ""})
			}
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return slices.CompactFunc(list, func(a, b candidate) bool { return a.word == b.word })
}

func (p *program) scenarioNames() (list []candidate) {
	all, err := p.builtInScenarios()
	if err != nil {
		return nil
	}
	for _, x := range all {
		list = append(list, candidate{x.scenario.Name, x.scenario.Title})
	}
	return list
}

// The scripts know nothing of commands: they ask the program, with completeCommand.
var (
	//go:embed completion/dmebench.bash
	bashScript string
	//go:embed completion/dmebench.zsh
	zshScript string
	//go:embed completion/dmebench.fish
	fishScript string
)

func (p *program) completionCommand() *cli.Command {
	script := func(name, text, install string) *cli.Command {
		return &cli.Command{
			Name: name, Usage: "for " + name + ": " + install,
			Action: func(*cli.Context) error {
				_, err := io.WriteString(p.stdout, text)
				return err
			},
		}
	}
	shells := []*cli.Command{
		script("bash", bashScript, "source <(dmebench completion bash), in ~/.bashrc"),
		script("zsh", zshScript, "source <(dmebench completion zsh), in ~/.zshrc after compinit"),
		script("fish", fishScript, "dmebench completion fish | source, in ~/.config/fish/config.fish"),
	}
	return &cli.Command{
		Name:        "completion",
		Usage:       "a script that lets a shell complete commands, flags and their values",
		Description: "Completes also algorithms, networks, workloads, and options of what has been chosen: --set quorum=…",
		Subcommands: shells,
		Action: func(*cli.Context) error {
			var names []string
			for _, s := range shells {
				names = append(names, s.Name)
			}
			return usage("completion: for which shell? %s", suggest.All(names))
		},
	}
}

// isCompletion reports whether a shell asks how a command line may go on.
func isCompletion(words []string) bool {
	return len(words) > 0 && strings.EqualFold(words[0], completeCommand)
}

// counter shows how far a search or a measurement is, on a terminal only. total is 0
// where nobody knows the end.
func (p *program) counter(quiet bool, total uint64, what string) *live.Counter {
	if quiet || !terminal.Is(p.stderr) {
		return nil
	}
	return live.NewCounter(p.stderr, total, what)
}

func (p *program) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "the JSON Schema of a result, as docs/result.schema.json has it",
		Description: "Prints what 'dmebench run --json' prints as a JSON Schema: every key, its type and its meaning.",
		Action: func(*cli.Context) error {
			b, err := schema.JSON()
			if err != nil {
				return err
			}
			_, err = p.stdout.Write(b)
			return err
		},
	}
}
