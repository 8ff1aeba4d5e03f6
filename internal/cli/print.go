package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/report/plots"
)

func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// print prints what a command has found, as JSON if --json asks for it, else as text does.
func (p *program) print(c *cli.Context, what string, value any, text func() error) error {
	var err error
	if c.Bool("json") {
		err = printJSON(p.stdout, value)
	} else {
		err = text()
	}
	if err != nil {
		return failWith(CantCreate, fmt.Errorf("cannot print the %s: %w", what, err))
	}
	return nil
}

func (p *program) printed() layout.Style {
	if o, ok := p.stdout.(*output); ok {
		return layout.StyleOf(o.Writer)
	}
	return layout.StyleOf(p.stdout)
}

// makeFolder makes sure that files can be kept in a folder before they are made.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return fileio.Probe(dir)
}

// cannotWrite is the error of a path to which nothing can be written; nil where err is.
// The path is as given: "--out DIR".
func cannotWrite(path string, err error) error {
	if err == nil {
		return nil
	}
	return failWith(CantCreate, fmt.Errorf("%s: cannot write there: %w; choose another folder", path, err))
}

func drawInto(dir string, figures ...plots.Figure) error {
	if err := makeFolder(dir); err != nil {
		return cannotWrite("--plots "+dir, err)
	}
	for _, f := range figures {
		drawn, err := f.Render(plots.Formats()...)
		if err != nil {
			return failWith(CantCreate, err)
		}
		for _, format := range plots.Formats() {
			path := filepath.Join(dir, f.Name+"."+string(format))
			if err := fileio.Write(path, drawn[format]); err != nil {
				return cannotWrite("--plots "+dir, err)
			}
		}
	}
	return nil
}
