package cli

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/internal/search/trace"
	"dmebench/units"
)

// scenario finds the scenario that the flags name, if of a file in in, and how it reads files.
func (p *program) scenario(name, file string, in io.Reader) (*trace.Scenario, func(string) ([]byte, error), error) {
	if file != "" {
		text, err := fileio.ReadFrom(file, in, trace.MaxBytes)
		if large := (*fileio.TooLarge)(nil); errors.As(err, &large) {
			return nil, nil, failWith(Data, err)
		}
		if err != nil {
			return nil, nil, failWith(NoInput, err)
		}
		s, err := trace.Parse(file, text)
		if err != nil {
			return nil, nil, failWith(Data, err)
		}
		return s, besides(file), nil
	}
	all, err := p.builtInScenarios()
	if err != nil {
		return nil, nil, err
	}
	names := p.scenarioNames()
	found, _ := units.FindName(name, names)
	for _, x := range all {
		if x.Name == found {
			return x.Scenario, x.ReadFile, nil
		}
	}
	return nil, nil, usage("%w", units.UnknownName("scenario", name, names, "'dmebench list scenarios' shows what there is"))
}

// besides reads files that a scenario names, from the folder of its own file on.
func besides(file string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		return fileio.Read(name, fileio.MostData)
	}
}

func (p *program) scenarioNames() []string {
	all, _ := p.builtInScenarios() // an error in one is reported when it is played
	return units.Texts(all, func(x trace.BuiltIn) string { return x.Name })
}

func (p *program) builtInScenarios() ([]trace.BuiltIn, error) {
	return trace.BuiltIns(p.scenarios, p.catalog)
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
		list = append(list, scenario{x.Name, x.Title, x.Algorithm, x.Nodes})
	}
	t := new(layout.Table)
	for _, s := range list {
		t.Add(s.Name, s.Title)
	}
	return p.show(c, list, t)
}
