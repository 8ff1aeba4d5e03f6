package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/fileio"
	"dmebench/internal/playground/page"
)

func (p *program) playgroundCommand() *cli.Command {
	return &cli.Command{
		Name:      "playground",
		Usage:     "write a page in which every algorithm can be played step by step, in a browser and offline",
		ArgsUsage: "[SCENARIO]",
		UsageText: "dmebench playground\n" +
			"dmebench playground counterexample.txt --out play.html",
		Description: "The page holds all algorithms, the rules of the network and the search, compiled to WebAssembly: the\n" +
			"same code that is measured. A scenario, as 'check --save' writes it, is opened in it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "open the scenario in `FILE`, or the built-in one of that name"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "playground.html", Usage: "write the page to `FILE`"},
		},
		Action: func(c *cli.Context) error {
			var text []byte
			if file := c.String("file"); file != "" {
				name := file
				if !isFile(file) {
					file = ""
				}
				s, _, err := p.scenario(name, file, nil)
				if err != nil {
					return err
				}
				text = s.Text()
			}
			return p.writePlayground(c.Context, c.String("out"), text)
		},
	}
}

// writePlayground writes the page, with a scenario opened in it, and says where it is.
func (p *program) writePlayground(ctx context.Context, file string, scenario []byte) error {
	parts, err := page.Load(ctx)
	if errors.Is(err, page.ErrNoSource) {
		return failWith(Unavailable, err)
	}
	if err != nil {
		return err
	}
	html, err := page.Render(parts, string(scenario))
	if err != nil {
		return err
	}
	return p.writePage(file, html)
}

func (p *program) writePage(file string, html []byte) error {
	if err := fileio.Write(file, html); err != nil {
		return failWith(CantCreate, fmt.Errorf("cannot write the page %s: %w", file, err))
	}
	if absolute, err := filepath.Abs(file); err == nil {
		file = absolute
	}
	_, err := fmt.Fprintf(p.stdout, "page: %s\n", file)
	return err
}
