package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"dmebench/internal/experiment"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/report/plots"
	"dmebench/runs"
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

// cannotWrite is the error of a path as given, such as "--out DIR"; nil if err is.
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

// The codes with which the program ends.
const (
	Held        = 0   // everything held
	Broken      = 1   // violated, or stalled though the links met the needs
	Unknown     = 2   // failed: undecided
	Crossed     = 3   // a threshold of the user's was crossed
	Usage       = 64  // flags or arguments are wrong
	Data        = 65  // an input file is wrong
	NoInput     = 66  // an input file is not there
	Unavailable = 69  // the environment lacks something
	CantCreate  = 73  // an output cannot be written
	Interrupted = 130 // Ctrl-C, a request to end, or a terminal that was closed
	Pipe        = 141 // standard output is a pipe that is no longer read
)

// coded is an error with the code with which the program ends because of it.
type coded struct {
	code int
	error
}

func (e *coded) Unwrap() error { return e.error }

func failWith(code int, err error) error { return &coded{code, err} }

// codeOf returns the code with which the program ends because of an error.
func codeOf(err error) int {
	if c := (*coded)(nil); errors.As(err, &c) {
		return c.code
	}
	if r := (*experiment.Refused)(nil); errors.As(err, &r) {
		return map[experiment.Cause]int{
			experiment.BadFlags: Usage, experiment.BadFile: Data, experiment.NoFile: NoInput,
			experiment.Unavailable: Unavailable, experiment.CannotWrite: CantCreate,
		}[r.Cause]
	}
	return Unknown
}

// ofOutcome is the code of a command that ran something with this outcome.
func ofOutcome(o runs.Outcome) int {
	return map[runs.Outcome]int{runs.Held: Held, runs.Broken: Broken, runs.Unknown: Unknown}[o]
}

// ofThresholds is the code with which a command ends that would have ended with code: thresholds
// change it only if everything held. One that was crossed comes before one that could not be
// judged.
func ofThresholds(code int, crossed, unknown bool) int {
	switch {
	case code != Held:
	case crossed:
		return Crossed
	case unknown:
		return Unknown
	}
	return code
}
