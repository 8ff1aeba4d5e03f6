package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/playground"
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
			if name, file := c.String("file"), c.String("file"); name != "" {
				in, err := os.Open(name)
				if err != nil {
					file = "" // the name is that of a built-in one, or of none
				}
				defer in.Close()
				s, _, err := p.scenario(name, file, in)
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
	html, err := page.Playground(ctx, string(scenario))
	if errors.Is(err, page.ErrNoSource) {
		return failWith(Unavailable, err)
	}
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

// mostDrawn is how many nodes a drawing has room for.
const mostDrawn = 64

// drawAlgorithm draws the nodes of an algorithm, as they stand in the playground.
func (p *program) drawAlgorithm(c *cli.Context, a *dme.Algorithm) error {
	nodes := 7
	if c.IsSet("nodes") {
		nodes = c.Int("nodes")
	}
	if nodes < 1 || nodes > mostDrawn {
		return usage("list %s: --nodes %d: a drawing has room for 1 to %d", a.Name, nodes, mostDrawn)
	}
	var wrong refusals
	set := settingsOf(c, &wrong)
	if err := wrong.err(); err != nil {
		return err
	}
	options, err := a.Resolve(set)
	if err == nil {
		err = a.CheckNodes(nodes, options)
	}
	if err != nil {
		return failWith(Usage, err)
	}
	system, err := a.Prepare(dme.Config{Nodes: nodes, Seed: 1, Options: options, ReadFile: newFiles().read})
	if err != nil {
		return failWith(Usage, err)
	}
	return p.draw(c, playground.Draw(fmt.Sprintf("%s, %d nodes", a.Title, nodes), a, system, nodes))
}

// drawQuorums draws the sets of one construction.
func (p *program) drawQuorums(c *cli.Context, systems []*quorum.System) error {
	if len(systems) != 1 || systems[0].Nodes() > mostDrawn {
		return usage("list quorums: --svg draws one construction of at most %d nodes; name it with --quorum", mostDrawn)
	}
	s := systems[0]
	return p.draw(c, playground.Incidence(fmt.Sprintf("%s of %d", s.Name(), s.Nodes()), s.Nodes(), s.RequestSet))
}

func (p *program) draw(c *cli.Context, svg []byte) error {
	if err := fileio.Write(c.String("svg"), svg); err != nil {
		return failWith(CantCreate, fmt.Errorf("--svg %s: cannot write there: %w", c.String("svg"), err))
	}
	return nil
}
