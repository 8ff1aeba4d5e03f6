package commandline

import (
	"errors"
	"fmt"

	"dmebench/internal/exit"
	"dmebench/result"
)

// readResults reads results from wherever they were left.
func readResults(path string) (*result.Set, error) {
	set, err := result.Read(path)
	switch {
	case errors.Is(err, result.ErrNone):
		return nil, failWith(exit.NoInput, err)
	case err != nil && isYAML(path):
		return nil, failWith(exit.Data, fmt.Errorf("%s is an experiment, and no results; 'dmebench sweep %s' makes them, "+
			"then name their folder, such as results/quickstart", path, path))
	case err != nil:
		return nil, failWith(exit.Data, err)
	}
	return set, nil
}

// readSomeResults reads results of which there must be one at least.
func readSomeResults(path string) (*result.Set, error) {
	set, err := readResults(path)
	if err == nil && len(set.Runs) == 0 {
		return nil, failWith(exit.NoInput, fmt.Errorf("%s: %w yet; 'dmebench sweep' makes them", set.Name(), result.ErrNone))
	}
	return set, err
}

// warnOfDamage names the records of results that could not be read.
func (p *program) warnOfDamage(sets ...*result.Set) {
	for _, set := range sets {
		for _, text := range set.Warnings() {
			fmt.Fprintf(p.stderr, "dmebench: warning: %s\n", text)
		}
	}
}
