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

// Error is a fault of the input or the environment, with the code with which
// the program ends because of it.
type Error struct {
	Code int // exit.Data, exit.NoInput, exit.Unavailable, exit.CantCreate
	Err  error
}

func (e *Error) Error() string { return "experiment: " + e.Err.Error() }

// Unwrap returns the fault itself.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the code with which the program ends.
func (e *Error) ExitCode() int { return e.Code }

func refuse(code int, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// faults collects everything that is wrong with a file, so that a person
// repairs it in one go.
type faults struct {
	path string
	list []fault
}

type fault struct {
	line int
	text string
}

func (f *faults) add(line int, format string, args ...any) {
	f.list = append(f.list, fault{max(line, 1), fmt.Sprintf(format, args...)})
}

// err tells the faults in the order of their lines.
func (f *faults) err() error {
	slices.SortStableFunc(f.list, func(a, b fault) int { return a.line - b.line })
	var lines []string
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
