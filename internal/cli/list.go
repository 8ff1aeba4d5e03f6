package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/run"
	"dmebench/transport"
	"dmebench/units"
	"dmebench/workload"
	"dmebench/workload/fault"
)

func (p *program) listCommand() *cli.Command {
	asJSON := jsonFlag("as JSON")
	page := []cli.Flag{asJSON,
		&cli.BoolFlag{Name: "markdown", Usage: "all algorithms, as the page docs/algorithms.md"},
		&cli.StringFlag{Name: "name", Usage: "show everything about `NAME`"},
		&cli.StringFlag{Name: "svg", Usage: "draw its nodes, and the links that it uses, to `FILE`"},
		nodesFlag(), setFlag("an option of the algorithm that is drawn")}
	with := func(name, usage string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, Action: action, Flags: flags}
	}
	algorithms := with("algorithms", "algorithms, with what they need and which faults they support", p.listAlgorithms, page...)
	algorithms.ArgsUsage = "[NAME]"
	return &cli.Command{
		Name:      "list",
		Usage:     "list algorithms, networks, workloads, quorums, scenarios; or show one in full",
		ArgsUsage: "[NAME]",
		UsageText: "dmebench list\ndmebench list maekawa",
		Flags:     page,
		Action:    p.listAlgorithms,
		Subcommands: []*cli.Command{
			algorithms,
			p.listQuorumsCommand(asJSON),
			with("transports", "networks, with what they guarantee", p.listTransports, asJSON),
			with("scenarios", "worked examples of papers, for 'dmebench trace'", p.listScenarios, asJSON),
			with("schema", "the JSON Schema of a result, as docs/result.schema.json has it", p.listSchema),
			with("workloads", "workloads, with their options", p.listWorkloads, asJSON),
		},
	}
}

// listSchema prints the JSON Schema of what 'run --json' prints.
func (p *program) listSchema(*cli.Context) error {
	b, err := schemaJSON()
	if err == nil {
		_, err = p.stdout.Write(b)
	}
	return err
}

func (p *program) show(c *cli.Context, list any, t *layout.Table) error {
	if c.Bool("json") {
		return printJSON(p.stdout, list)
	}
	return t.WriteFitted(p.stdout, p.printed().Width)
}

// option, algorithm, … are the JSON forms of what is listed.
type option struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Values  string `json:"values"`
	Help    string `json:"help"`
}

type statement struct {
	ID         string         `json:"id"`
	Quantity   claim.Quantity `json:"quantity"`
	Formula    string         `json:"formula"`
	Load       claim.Load     `json:"load"`
	Kind       claim.Kind     `json:"kind"`
	Source     string         `json:"source"`
	KnownFalse string         `json:"known_false,omitempty"`
}

type algorithm struct {
	Name        string      `json:"name"`
	Title       string      `json:"title"`
	Description string      `json:"description,omitempty"`
	Citation    string      `json:"citation"`
	Class       dme.Class   `json:"class"`
	Dynamic     bool        `json:"dynamic"`
	AsPublished bool        `json:"as_published"`
	Needs       dme.Needs   `json:"needs"`
	Bears       []string    `json:"bears"` // faults
	Kinds       []string    `json:"kinds"`
	Options     []option    `json:"options"`
	Claims      []statement `json:"claims"`

	Invariants []invariant `json:"invariants"` // looked at by 'check' in every state
}

func (p *program) listAlgorithms(c *cli.Context) error {
	for _, name := range []string{"nodes", "set"} {
		if c.IsSet(name) && !c.IsSet("svg") {
			return usage("--%s is for --svg, which draws the nodes of an algorithm; leave it out", name)
		}
	}
	if _, err := p.catalog.Lookup(c.String("name")); err != nil && c.IsSet("svg") {
		return usage("--svg draws the nodes of one algorithm; give its name, as in list maekawa --svg FILE")
	}
	for _, name := range []string{"json", "markdown"} {
		if c.IsSet("svg") && c.IsSet(name) {
			return usage("--%s and --svg: one of them", name)
		}
	}
	if c.Bool("markdown") {
		if c.Bool("json") {
			return usage("--json and --markdown: one of them")
		}
		if c.IsSet("name") {
			return usage("--markdown is the page of all algorithms; leave %s out", c.String("name"))
		}
		return p.writeAlgorithmsPage()
	}
	if c.IsSet("name") {
		return p.listOne(c, c.String("name"), c.Command.Name == "algorithms")
	}
	var list []algorithm
	t := layout.NewTable("NAME", "CLASS", "NEEDS", "SUPPORTS", "OPTIONS (default first)", "PAPER")
	for _, a := range p.catalog {
		x, err := algorithmOf(a)
		if err != nil {
			return err
		}
		list = append(list, x)
		values := units.Texts(a.Options, func(o dme.Option) string { return o.Name + "=" + o.Values() })
		t.Add(qualified(a.Name, a), string(a.Class), orDash(needs(x.Needs), ", "), orDash(fault.Supported(a), ", "),
			orDash(values, " "), a.Citation)
	}
	if width := p.printed().Width; width > 0 && t.Width() > width && !c.Bool("json") {
		return p.listBriefly(list, width)
	}
	return p.show(c, list, t)
}

// listBriefly prints what fits a terminal: what a person chooses by.
func (p *program) listBriefly(list []algorithm, width int) error {
	t := layout.NewTable("NAME", "CLASS", "NEEDS", "SUPPORTS")
	for _, x := range list {
		name := x.Name
		if x.AsPublished {
			name += " (wrong)"
		}
		t.Add(name, string(x.Class), orDash(needs(x.Needs), ", "), orDash(x.Bears, ", "))
	}
	if err := t.WriteFitted(p.stdout, width); err != nil {
		return err
	}
	s := layout.Style{Width: width}
	_, err := fmt.Fprintln(p.stdout, "\n"+s.Wrap("'dmebench list NAME' shows one in full. (wrong) marks a text as it was published, "+
		"which is known to fail.", 0))
	return err
}

func algorithmOf(a *dme.Algorithm) (algorithm, error) {
	defaults, err := a.Resolve(nil)
	if err != nil {
		return algorithm{}, err
	}
	x := algorithm{
		Name: a.Name, Title: a.Title, Description: a.Description, Citation: a.Citation,
		Class: a.Class, Dynamic: a.Dynamic, AsPublished: a.AsPublished,
		Needs: a.Needs(defaults), Bears: append([]string{}, fault.Supported(a)...), Kinds: a.Kinds, Options: options(a.Options),
		Claims: []statement{},
	}
	for _, k := range claim.Of(a) {
		x.Claims = append(x.Claims, statement{k.ID(a), k.Quantity, k.Formula, k.Load, k.Kind, k.Source, k.KnownFalse})
	}
	x.Invariants = invariantsOf(a)
	return x, nil
}

// qualified says of a name that its algorithm is wrong, if it is.
func qualified(name string, a *dme.Algorithm) string {
	if a.AsPublished {
		name += " (known to be wrong)"
	}
	return name
}

func needs(n dme.Needs) (words []string) {
	for _, x := range []struct {
		need bool
		name string
	}{{n.Reliable, "reliable"}, {n.FIFO, "FIFO"}, {n.BoundedDelay, "bounded delay"}, {n.SequencedBroadcast, "sequenced broadcast"}} {
		if x.need {
			words = append(words, x.name)
		}
	}
	return words
}

func orDash(words []string, separator string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, separator)
}

func (p *program) listTransports(c *cli.Context) error {
	type network struct {
		Name       string               `json:"name"`
		Help       string               `json:"help"`
		Guarantees transport.Guarantees `json:"guarantees"`
		Options    []option             `json:"options"`
	}
	var list []network
	t := new(layout.Table)
	for _, n := range run.Networks() {
		defaults, err := dme.ResolveOptions(n.Options, nil)
		if err != nil {
			return err
		}
		list = append(list, network{n.Name, n.Help, n.Guarantees(defaults), options(n.Options)})
		addWithOptions(t, n.Name, n.Help, n.Options)
	}
	return p.show(c, list, t)
}

func (p *program) listWorkloads(c *cli.Context) error {
	type kind struct {
		Name    string   `json:"name"`
		Help    string   `json:"help"`
		Rated   bool     `json:"rated"`
		Options []option `json:"options"`
	}
	var list []kind
	t := new(layout.Table)
	for _, k := range workload.Kinds() {
		list = append(list, kind{k.Name, k.Help, k.Rated, options(k.Options)})
		addWithOptions(t, k.Name, k.Help, k.Options)
	}
	return p.show(c, list, t)
}

func options(declared []dme.Option) []option {
	list := []option{}
	for _, o := range declared {
		list = append(list, option{o.Name, o.Default, o.Values(), o.Help})
	}
	return list
}

// addWithOptions adds a row for something and one for each of its options.
func addWithOptions(t *layout.Table, name, help string, options []dme.Option) {
	t.Add(name, help)
	for _, o := range options {
		t.Add("  "+o.Name+"="+o.Values(), o.Help+" (default "+orNone(o.Default)+")")
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func networkNames() string {
	return strings.Join(units.Texts(run.Networks(), func(n run.Network) string { return n.Name }), ", ")
}

func workloadNames() string {
	return strings.Join(units.Texts(workload.Kinds(), func(k workload.Kind) string { return k.Name }), ", ")
}

// listableNames lists the names that 'list NAME' knows. Among equal names the first is meant.
func (p *program) listableNames() []string {
	quorums := slices.DeleteFunc(quorum.Names(), func(name string) bool { return strings.Contains(name, ":") })
	return slices.Concat(p.catalog.Names(),
		strings.Split(networkNames(), ", "), strings.Split(workloadNames(), ", "), quorums, p.scenarioNames())
}

// listOne prints everything about one algorithm, or about something else of that name.
func (p *program) listOne(c *cli.Context, name string, algorithmsOnly bool) error {
	if a, err := p.catalog.Runnable(name); err == nil && !foreign.Is(name) {
		x, err := algorithmOf(a)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return printJSON(p.stdout, []algorithm{x})
		}
		if c.IsSet("svg") {
			return p.drawAlgorithm(c, a)
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
		return p.printOne(func(w *strings.Builder, s layout.Style) {
			w.WriteString(s.Wrap(name+": "+help, 0) + "\n")
			if len(more) > 0 {
				w.WriteString("\n")
				columns(w, s, more)
			}
			writeOptions(w, s, declared)
		})
	}
	names := p.listableNames()
	given := name
	name, ok := units.FindName(given, names)
	if !ok {
		return usage("list: %w", units.UnknownName("name", given, append(names, "algorithms", "quorums", "scenarios", "transports", "workloads"),
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
		if x.Name == name {
			return entry(x.Title, nil, [2]string{"algorithm", x.Algorithm},
				[2]string{"nodes", fmt.Sprint(x.Nodes)}, [2]string{"replay", "'dmebench trace " + name + "'"})
		}
	}
	return usage("list: there is no %q", given)
}

func (p *program) printOne(write func(*strings.Builder, layout.Style)) error {
	var text strings.Builder
	write(&text, p.pageStyle())
	_, err := p.stdout.Write([]byte(text.String()))
	return err
}

func writeOptions(w *strings.Builder, s layout.Style, declared []dme.Option) {
	var rows [][2]string
	for _, o := range declared {
		rows = append(rows, [2]string{o.Name + "=" + o.Values(), o.Help + " (default: " + orNone(o.Default) + ")"})
	}
	section(w, s, "Options, for --set NAME=VALUE", rows)
}

// section writes rows under a title, if there are any.
func section(w *strings.Builder, s layout.Style, title string, rows [][2]string) {
	if len(rows) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.Strong(title))
		columns(w, s, rows)
	}
}

// Widths of texts: of what is no terminal, and the widest that is pleasant to read.
const (
	plainWidth = 80
	mostWidth  = 110
)

func (p *program) pageStyle() layout.Style {
	s := p.printed()
	s.Width = min(cmp.Or(s.Width, plainWidth), mostWidth)
	return s
}

// columns writes names and what they mean, the latter in a column of its own.
func columns(w *strings.Builder, s layout.Style, rows [][2]string) {
	t := new(layout.Table)
	for _, r := range rows {
		t.Add("  "+r[0], r[1])
	}
	_ = t.WriteFitted(w, s.Width) // a builder takes everything
}
