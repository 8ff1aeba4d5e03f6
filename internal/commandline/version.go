package commandline

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"dmebench/internal/environment"
)

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "which version this is: commit, whether the source was as committed, toolchain",
		Description: "Every result says in its environment with which program it was made. A build within a clone notes\n" +
			"the commit by itself; 'go run' does not.",
		Flags:  []cli.Flag{jsonFlag("as JSON")},
		Action: func(c *cli.Context) error { return p.printVersion(c.Bool("json")) },
	}
}

// printVersion says from what this program was built.
func (p *program) printVersion(asJSON bool) error {
	b := environment.ThisBuild()
	if asJSON {
		return printJSON(p.stdout, struct {
			Version string           `json:"version"`
			Commit  string           `json:"commit"`
			Tree    environment.Tree `json:"tree"`
			Time    string           `json:"time"`
			Go      string           `json:"go"`
			OS      string           `json:"os"`
			Arch    string           `json:"arch"`
		}{b.Version, b.Commit, b.Tree, b.Time, runtime.Version(), runtime.GOOS, runtime.GOARCH})
	}
	at := ""
	if b.Time != "" {
		at = " of " + b.Time
	}
	_, err := fmt.Fprintf(p.stdout, "dmebench %s\ncommit   %s%s\ntree     %s\nbuilt by %s for %s/%s\n",
		b.Version, b.Commit, at, b.Tree, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
