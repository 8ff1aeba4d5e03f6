package commandline

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
	"dmebench/internal/input"
	"dmebench/internal/trace"
)

func (p *program) traceCommand() *cli.Command {
	return &cli.Command{
		Name:  "trace",
		Usage: "replay a worked example of a paper, step by step, and draw its space-time diagram",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "scenario", Usage: "`NAME` of a built-in scenario; «dmebench list scenarios» shows them"},
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "a scenario `FILE` of your own"},
			&cli.StringFlag{Name: "svg", Usage: "draw the diagram to `FILE`"},
		},
		Action: p.trace,
	}
}

func (p *program) trace(c *cli.Context) error {
	s, readFile, err := p.scenario(c.String("scenario"), c.String("file"))
	if err != nil {
		return err
	}
	a, err := p.catalog.Lookup(s.Algorithm)
	if err != nil {
		return failWith(exit.Data, s.Refused(err))
	}
	text, diagram, err := s.Play(a, readFile)
	if err != nil {
		return failWith(exit.Data, err)
	}
	if _, err := p.stdout.Write(text); err != nil {
		return failWith(exit.CantCreate, err)
	}
	if file := c.String("svg"); file != "" {
		if err := atomicfile.Write(file, diagram.SVG()); err != nil {
			return failWith(exit.CantCreate, fmt.Errorf("--svg %s: cannot write there: %w", file, err))
		}
	}
	return nil
}

// scenario finds the scenario that the flags name, and how it reads files.
func (p *program) scenario(name, file string) (*trace.Scenario, func(string) ([]byte, error), error) {
	switch {
	case (name == "") == (file == ""):
		return nil, nil, usage("trace: name a --scenario or a --file, one of them; «dmebench list scenarios» shows what there is")
	case file != "":
		text, err := input.ReadFile(file, trace.MaxBytes)
		if large := (*input.TooLarge)(nil); errors.As(err, &large) {
			return nil, nil, failWith(exit.Data, err)
		}
		if err != nil {
			return nil, nil, failWith(exit.NoInput, err)
		}
		s, err := trace.Parse(file, text)
		if err != nil {
			return nil, nil, failWith(exit.Data, err)
		}
		return s, func(name string) ([]byte, error) {
			return input.ReadFile(filepath.Join(filepath.Dir(file), name), input.Data)
		}, nil
	}
	all, err := p.builtInScenarios()
	if err != nil {
		return nil, nil, err
	}
	for _, x := range all {
		if x.scenario.Name == name {
			return x.scenario, func(name string) ([]byte, error) { return fs.ReadFile(p.scenarios, path.Join(x.folder, name)) }, nil
		}
	}
	return nil, nil, usage("unknown scenario %q; «dmebench list scenarios» shows what there is", name)
}

// builtIn is a scenario and the folder whose files it may name.
type builtIn struct {
	scenario *trace.Scenario
	folder   string
}

// builtInScenarios returns the worked examples that the program carries, and one
// of each algorithm that it makes itself, by name.
func (p *program) builtInScenarios() ([]builtIn, error) {
	var all []builtIn
	err := fs.WalkDir(p.scenarios, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(p.scenarios, file)
		if err != nil || !trace.IsScenario(text) {
			return err
		}
		s, err := trace.Parse(trace.NameOf(file), text)
		all = append(all, builtIn{s, path.Dir(file)})
		return err
	})
	for _, a := range p.catalog {
		if a.AsPublished {
			continue // errata.md shows how these fail
		}
		// An algorithm that cannot serve three requests has no example: check says why.
		if s, err := trace.Example(a); err == nil {
			all = append(all, builtIn{s, "."})
		}
	}
	slices.SortStableFunc(all, func(a, b builtIn) int {
		return strings.Compare(path.Dir(a.scenario.Name), path.Dir(b.scenario.Name))
	})
	return all, err
}

func (p *program) listScenarios(c *cli.Context) error {
	type scenario struct {
		Name      string `json:"name"`
		Title     string `json:"title"`
		Algorithm string `json:"algorithm"`
		Nodes     int    `json:"nodes"`
	}
	all, err := p.builtInScenarios()
	if err != nil {
		return errors.Join(errors.New("the built-in scenarios cannot be read"), err)
	}
	list := []scenario{}
	for _, x := range all {
		list = append(list, scenario{x.scenario.Name, x.scenario.Title, x.scenario.Algorithm, x.scenario.Nodes})
	}
	if c.Bool("json") {
		return printJSON(p.stdout, list)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\n", s.Name, s.Title)
	}
	return w.Flush()
}
