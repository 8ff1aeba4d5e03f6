package commandline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/internal/suggest"
	"dmebench/internal/terminal"
	"dmebench/workload"
)

// listableNames lists everything that 'list NAME' tells of. Of the names that two
// things share, the first is meant.
func (p *program) listableNames() (names []candidate) {
	for _, a := range p.catalog {
		names = append(names, candidate{a.Name, a.Title})
	}
	for _, n := range run.Networks() {
		names = append(names, candidate{n.Name, "network: " + n.Help})
	}
	for _, k := range workload.Kinds() {
		names = append(names, candidate{k.Name, "workload: " + k.Help})
	}
	for _, c := range quorum.Constructions() {
		if !strings.Contains(c.Name, ":") {
			names = append(names, candidate{c.Name, "quorums: " + c.Help})
		}
	}
	return append(names, p.scenarioNames()...)
}

// listOne tells everything about one algorithm, or whatever else has the name.
func (p *program) listOne(c *cli.Context, name string, algorithmsOnly bool) error {
	if a, err := p.catalog.Lookup(name); err == nil {
		x, err := algorithmOf(a)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return printJSON(p.stdout, []algorithm{x})
		}
		return p.showAlgorithm(a)
	} else if algorithmsOnly {
		return usage("list algorithms: %w", err)
	}
	entry := func(help string, declared []dme.Option, more ...[2]string) error {
		if c.Bool("json") {
			return printJSON(p.stdout, struct {
				Name    string   `json:"name"`
				Help    string   `json:"help"`
				Options []option `json:"options"`
			}{name, help, options(declared)})
		}
		return p.printOne(func(w *strings.Builder, s terminal.Style) {
			paragraph(w, s, 0, name+": "+help)
			if len(more) > 0 {
				w.WriteString("\n")
				columns(w, s, more)
			}
			writeOptions(w, s, declared)
		})
	}
	var names []string
	for _, x := range p.listableNames() {
		names = append(names, x.word)
	}
	given := name
	name, ok := suggest.Find(given, names)
	if !ok {
		return usage("list: %w", suggest.Unknown("name", given, append(names, "algorithms", "quorums", "scenarios", "transports", "workloads"),
			"'dmebench list' shows the algorithms, 'dmebench list --help' what else there is"))
	}
	if n, err := run.LookupNetwork(name); err == nil {
		return entry(n.Help, n.Options)
	}
	if k, err := workload.Lookup(name); err == nil {
		return entry(k.Help, k.Options)
	}
	for _, x := range quorum.Constructions() {
		if x.Name == name {
			return entry(x.Help, nil, [2]string{"source", x.Source}, [2]string{"sets", "'dmebench list quorums --nodes 13 --quorum " + name + "'"})
		}
	}
	all, err := p.builtInScenarios()
	if err != nil {
		return errors.Join(errors.New("the built-in scenarios cannot be read"), err)
	}
	for _, x := range all {
		if x.scenario.Name == name {
			return entry(x.scenario.Title, nil, [2]string{"algorithm", x.scenario.Algorithm},
				[2]string{"nodes", fmt.Sprint(x.scenario.Nodes)}, [2]string{"replay", "'dmebench trace " + name + "'"})
		}
	}
	return usage("list: there is no %q", given)
}

func (p *program) printOne(write func(*strings.Builder, terminal.Style)) error {
	var text strings.Builder
	write(&text, p.helpStyle())
	_, err := p.stdout.Write([]byte(text.String()))
	return err
}

func writeOptions(w *strings.Builder, s terminal.Style, declared []dme.Option) {
	if len(declared) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", s.Strong("Options, for --set NAME=VALUE"))
	var rows [][2]string
	for _, o := range declared {
		rows = append(rows, [2]string{o.Name + "=" + o.Values(), o.Help + " (default: " + orNone(o.Default) + ")"})
	}
	columns(w, s, rows)
}
