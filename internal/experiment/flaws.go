package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"dmebench/internal/exit"
)

// refuse makes an error of the input or the environment, with the code with which
// the program ends because of it.
func refuse(code int, format string, args ...any) error {
	return exit.Errorf(code, "experiment: "+format, args...)
}

// flaws collects everything that is wrong with a file, so that a person
// repairs it in one go.
type flaws struct {
	path string
	list []flaw
}

type flaw struct {
	line int
	text string
}

func (f *flaws) add(line int, format string, args ...any) {
	f.list = append(f.list, flaw{max(line, 1), fmt.Sprintf(format, args...)})
}

// err tells the flaws in the order of their lines.
func (f *flaws) err() error {
	slices.SortStableFunc(f.list, func(a, b flaw) int { return a.line - b.line })
	var lines []string
	if f.path == CommandLine && len(f.list) > 0 { // nobody has seen its lines
		for _, x := range f.list {
			lines = append(lines, x.text)
		}
		return exit.Errorf(exit.Usage, "%s", strings.Join(lines, "\n"))
	}
	for _, x := range f.list {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", f.path, x.line, x.text))
	}
	switch len(lines) {
	case 0:
		return nil
	case 1:
		return refuse(exit.Data, "%s", lines[0])
	}
	return refuse(exit.Data, "%s has %d faults:\n  %s", f.path, len(lines), strings.Join(lines, "\n  "))
}

// cause strips a file operation's error of the path, which is often that of a
// temporary file.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
