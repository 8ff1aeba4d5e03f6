package commandline

import (
	"github.com/urfave/cli/v2"

	"dmebench/internal/schema"
)

func (p *program) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "the JSON Schema of a result, as docs/result.schema.json has it",
		Description: "Prints what 'dmebench run --json' prints as a JSON Schema: every key, its type and its meaning.",
		Action: func(*cli.Context) error {
			b, err := schema.JSON()
			if err != nil {
				return err
			}
			_, err = p.stdout.Write(b)
			return err
		},
	}
}
