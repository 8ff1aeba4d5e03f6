// Package resultset reads results from wherever they were left: the folder of
// an experiment or of one sweep, a single result file, or a folder of such
// files, as «run --out» fills it.
//
// It changes nothing. A file that is not a result is an error that names it:
// figures that silently lack a file would be worse than none.
package resultset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dmebench/internal/exit"
	"dmebench/internal/experiment"
	"dmebench/report"
	"dmebench/result"
)

// Set is some results of one origin.
type Set struct {
	Path    string    // as it was given
	Dir     string    // the dated folder of an experiment; "" for files
	Started time.Time // when its sweep was begun; zero where that is not known
	Runs    []report.Run
}

// Name says which results these are, also when a link has moved on.
func (s *Set) Name() string { return cmp.Or(s.Dir, s.Path) }

// Error is a fault of the input with the code with which the program ends.
type Error struct {
	Code int // exit.Data or exit.NoInput
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the fault itself.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the code with which the program ends.
func (e *Error) ExitCode() int { return e.Code }

func refuse(code int, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// Read reads the results at path. There is at least one.
func Read(path string) (*Set, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(exit.NoInput, "%s: there is no such file or folder; name the results of a sweep, such as results/quickstart, or a file that «dmebench run --out» has made", path)
	case err != nil:
		return nil, refuse(exit.NoInput, "cannot read the results: %w", err)
	case !info.IsDir():
		return readFiles(path, []string{path})
	}
	files, err := filepath.Glob(filepath.Join(escape(path), "*.json"))
	if err != nil {
		return nil, refuse(exit.NoInput, "cannot read the results in %s: %w", path, err)
	}
	if isExperiment(path) || len(files) == 0 {
		return readExperiment(path)
	}
	slices.Sort(files)
	return readFiles(path, files)
}

// isExperiment reports whether a folder is a sweep's, or leads to one.
func isExperiment(dir string) bool {
	for _, name := range []string{"spec.yaml", "latest"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// escape makes a path a pattern that matches nothing but itself.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func readExperiment(path string) (*Set, error) {
	results, err := experiment.Open(path)
	if err != nil {
		return nil, err
	}
	set := &Set{Path: path, Dir: results.Dir, Started: results.Started}
	for _, r := range results.Runs {
		set.Runs = append(set.Runs, report.Run{
			Label: r.Label, Network: r.Transport, Workload: r.Workload, Repetition: r.Repetition + 1, Result: r.Result,
		})
	}
	if len(set.Runs) == 0 {
		return nil, refuse(exit.NoInput, "%s holds no results yet; «dmebench sweep» makes them", results.Dir)
	}
	return set, nil
}

// readFiles reads single results; several of the same cell are its repetitions,
// in the order of the files' names.
func readFiles(path string, files []string) (*Set, error) {
	set := &Set{Path: path}
	repetitions := make(map[string]int)
	for _, file := range files {
		label, result, err := readFile(file)
		if err != nil {
			return nil, refuse(exit.Data, "%s: %w; name a result of «dmebench run --out» or a folder of nothing but results", file, err)
		}
		cell := result.Spec
		cell.Seed = 0
		key, err := json.Marshal(cell)
		if err != nil {
			return nil, refuse(exit.Data, "%s: %w", file, err)
		}
		repetitions[label+string(key)]++
		set.Runs = append(set.Runs, report.Run{Label: label, Repetition: repetitions[label+string(key)], Result: result})
	}
	return set, nil
}

// readFile reads the result of a run, or one with its place in an experiment.
func readFile(file string) (label string, r *result.Result, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	var cell struct {
		Label  string          `json:"label"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(b, &cell); err != nil {
		return "", nil, fmt.Errorf("not a result: %w", err)
	}
	if len(cell.Result) > 0 {
		b = cell.Result
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&r); err != nil {
		return "", nil, fmt.Errorf("not a result: %w", err)
	}
	switch {
	case r == nil || r.Status == "" || r.Algorithm == "" || r.Nodes < 1:
		return "", nil, errors.New("not a result: it lacks algorithm, nodes or status")
	case r.SchemaVersion != result.SchemaVersion:
		return "", nil, fmt.Errorf("a result of version %d; this program reads version %d", r.SchemaVersion, result.SchemaVersion)
	}
	if cell.Label == "" {
		cell.Label = r.Algorithm
	}
	return cell.Label, r, nil
}
