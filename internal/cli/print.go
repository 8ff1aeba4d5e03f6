package cli

import (
	"encoding/json"
	"fmt"
	"io"
)

func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// print prints what a command has found, as JSON if asked for, else as text does.
func (p *program) print(what string, asJSON bool, value any, text func() error) error {
	var err error
	if asJSON {
		err = printJSON(p.stdout, value)
	} else {
		err = text()
	}
	if err != nil {
		return failWith(CantCreate, fmt.Errorf("cannot print the %s: %w", what, err))
	}
	return nil
}
