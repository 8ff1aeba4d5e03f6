package commandline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
	"dmebench/internal/experiment"
)

// defaultExperiment is the name of an experiment that nobody has named.
const defaultExperiment = "experiment"

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write an experiment file to begin with, in which every key is explained",
		ArgsUsage: "[NAME] [FILE]",
		Description: "NAME is that of the experiment and of the folder of its results (default: " + defaultExperiment + "), FILE where it\n" +
			"is written (default: NAME.yaml); a FILE alone, which ends in .yaml, names both. 'dmebench sweep FILE' carries it out.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "write it although there is a file of that name"}},
		Action: p.init,
	}
}

func (p *program) init(c *cli.Context) error {
	name, file := c.Args().Get(0), c.Args().Get(1)
	if isYAML(name) && file == "" {
		name, file = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), name
	}
	if name == "" {
		name = defaultExperiment
	}
	if file == "" {
		file = name + ".yaml"
	}
	text, err := experiment.Template(name, file)
	if err != nil {
		return usage("init: %w", err)
	}
	switch _, err := os.Lstat(file); {
	case err == nil && !c.Bool("force"):
		return failWith(exit.CantCreate, fmt.Errorf("init: there is a file %s already; choose another name, or --force to replace it", file))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return failWith(exit.CantCreate, fmt.Errorf("init: cannot write %s: %w; choose another place", file, err))
	}
	if err := atomicfile.Write(file, text); err != nil {
		return failWith(exit.CantCreate, fmt.Errorf("init: cannot write %s: %w; choose another place", file, err))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: change what you like, then 'dmebench sweep %s --dry-run' shows what it comes to\n", file, file)
	return err
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}
