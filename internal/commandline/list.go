package commandline

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/workload"
)

func (p *program) listCommand() *cli.Command {
	json := &cli.BoolFlag{Name: "json", Usage: "as JSON"}
	flags := []cli.Flag{json}
	return &cli.Command{
		Name:   "list",
		Usage:  "what there is: algorithms (the default), quorums, scenarios, transports, workloads",
		Flags:  flags,
		Action: p.listAlgorithms,
		Subcommands: []*cli.Command{
			{Name: "algorithms", Usage: "algorithms, with what they need", Flags: flags, Action: p.listAlgorithms},
			p.listQuorumsCommand(flags),
			{Name: "transports", Usage: "networks, with what they guarantee", Flags: flags, Action: p.listTransports},
			{Name: "scenarios", Usage: "worked examples of papers, for «dmebench trace»", Flags: flags, Action: p.listScenarios},
			{Name: "workloads", Usage: "workloads, with their options", Flags: flags, Action: p.listWorkloads},
		},
	}
}

// option, algorithm, … are the JSON forms of what is listed.
type option struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Values  string `json:"values"`
	Help    string `json:"help"`
}

type claim struct {
	ID         string        `json:"id"`
	Quantity   dme.Quantity  `json:"quantity"`
	Formula    string        `json:"formula"`
	Load       dme.Load      `json:"load"`
	Kind       dme.ClaimKind `json:"kind"`
	Source     string        `json:"source"`
	KnownFalse string        `json:"known_false,omitempty"`
}

type algorithm struct {
	Name        string    `json:"name"`
	Title       string    `json:"title"`
	Citation    string    `json:"citation"`
	Class       dme.Class `json:"class"`
	Dynamic     bool      `json:"dynamic"`
	AsPublished bool      `json:"as_published"`
	Needs       dme.Needs `json:"needs"`
	Kinds       []string  `json:"kinds"`
	Options     []option  `json:"options"`
	Claims      []claim   `json:"claims"`
}

func options(declared []dme.Option) []option {
	list := []option{}
	for _, o := range declared {
		list = append(list, option{o.Name, o.Default, o.Values, o.Help})
	}
	return list
}

func (p *program) listAlgorithms(c *cli.Context) error {
	var list []algorithm
	for _, a := range p.catalog {
		defaults, err := a.Resolve(nil)
		if err != nil {
			return err
		}
		x := algorithm{
			Name: a.Name, Title: a.Title, Citation: a.Citation, Class: a.Class, Dynamic: a.Dynamic, AsPublished: a.AsPublished,
			Needs: a.Needs(defaults), Kinds: a.Kinds, Options: options(a.Options), Claims: []claim{},
		}
		for _, k := range a.Claims {
			x.Claims = append(x.Claims, claim{a.ClaimID(k), k.Quantity, k.Formula, k.Load, k.Kind, k.Source, k.KnownFalse})
		}
		list = append(list, x)
	}
	if c.Bool("json") {
		return printJSON(p.stdout, list)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tCLASS\tNEEDS\tOPTIONS (default first)\tPAPER")
	for _, a := range list {
		name := a.Name
		if a.AsPublished {
			name += " (known to be wrong)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", name, a.Class, needs(a.Needs), brief(a.Options), a.Citation)
	}
	return w.Flush()
}

func needs(n dme.Needs) string {
	var parts []string
	for _, x := range []struct {
		need bool
		name string
	}{{n.Reliable, "reliable"}, {n.FIFO, "FIFO"}, {n.BoundedDelay, "bounded delay"}, {n.SequencedBroadcast, "sequenced broadcast"}} {
		if x.need {
			parts = append(parts, x.name)
		}
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func brief(list []option) string {
	var parts []string
	for _, o := range list {
		parts = append(parts, o.Name+"="+o.Values)
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, " ")
}

func (p *program) listTransports(c *cli.Context) error {
	type network struct {
		Name       string   `json:"name"`
		Help       string   `json:"help"`
		Guarantees any      `json:"guarantees"`
		Options    []option `json:"options"`
	}
	var list []network
	for _, n := range run.Networks() {
		defaults, err := dme.ResolveOptions(n.Options, nil)
		if err != nil {
			return err
		}
		list = append(list, network{n.Name, n.Help, n.Guarantees(defaults), options(n.Options)})
	}
	if c.Bool("json") {
		return printJSON(p.stdout, list)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, n := range list {
		fmt.Fprintf(w, "%s\t%s\n", n.Name, n.Help)
		printOptions(w, n.Options)
	}
	return w.Flush()
}

func (p *program) listWorkloads(c *cli.Context) error {
	type kind struct {
		Name    string   `json:"name"`
		Help    string   `json:"help"`
		Rated   bool     `json:"rated"`
		Options []option `json:"options"`
	}
	var list []kind
	for _, k := range workload.Kinds() {
		list = append(list, kind{k.Name, k.Help, k.Rated, options(k.Options)})
	}
	if c.Bool("json") {
		return printJSON(p.stdout, list)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\n", k.Name, k.Help)
		printOptions(w, k.Options)
	}
	return w.Flush()
}

func printOptions(w *tabwriter.Writer, list []option) {
	for _, o := range list {
		fmt.Fprintf(w, "  %s=%s\t%s (default %s)\n", o.Name, o.Values, o.Help, quoteEmpty(o.Default))
	}
}

func quoteEmpty(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func networkNames() string {
	var names []string
	for _, n := range run.Networks() {
		names = append(names, n.Name)
	}
	return strings.Join(names, ", ")
}

func workloadNames() string {
	var names []string
	for _, k := range workload.Kinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}
