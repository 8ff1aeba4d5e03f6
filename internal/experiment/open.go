package experiment

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dmebench/internal/exit"
	"dmebench/result"
)

// Results is everything that a sweep has left behind.
type Results struct {
	Dir         string    // the dated folder
	Started     time.Time // when that was made; zero where its name does not say
	File        File
	Environment map[string]string

	// Runs holds what there is, also failed runs, in the order of the plan.
	Runs []Run

	Planned int // runs of the plan
	Missing int // of these, runs without a result, or failed
}

// Run is one result with its place in the experiment.
type Run struct {
	Hash       string
	Label      string // of the algorithm
	Transport  string // label
	Workload   string // label
	Repetition int    // from 0
	Result     *result.Result
}

// Open reads a folder of results: a dated one, or the folder of an experiment,
// whose latest link it follows. It changes nothing and may read while a sweep
// goes on.
func Open(dir string) (*Results, error) {
	dated, err := locate(dir)
	if err != nil {
		return nil, err
	}
	r := &Results{Dir: dated, Started: started(dated)}
	if r.File, err = Load(filepath.Join(dated, specName)); err != nil {
		return nil, err
	}
	if err := readJSON(filepath.Join(dated, environmentName), &r.Environment); err != nil {
		return nil, err
	}
	var plan planFile
	if err := readJSON(filepath.Join(dated, planName), &plan); err != nil {
		return nil, err
	}
	if plan.SchemaVersion != storeVersion {
		return nil, refuse(exit.Data, "%s has schema_version %d; this program reads version %d", filepath.Join(dated, planName), plan.SchemaVersion, storeVersion)
	}
	var bad corrupt
	r.Planned = len(plan.Cells)
	for _, p := range plan.Cells {
		c, err := load(dated, p.Hash)
		if err != nil {
			bad.add(cellPath(dated, p.Hash), err)
			continue
		}
		if c == nil || c.Result.Status == result.Failed {
			r.Missing++
		}
		if c != nil {
			r.Runs = append(r.Runs, Run{
				Hash: p.Hash, Label: p.Label, Transport: p.Transport, Workload: p.Workload,
				Repetition: p.Repetition, Result: c.Result,
			})
		}
	}
	return r, bad.err()
}

// started reads a dated folder's name, which may end in a number.
func started(dir string) time.Time {
	stamp, _, _ := strings.Cut(filepath.Base(dir), "Z")
	at, _ := time.Parse(folderTime, stamp+"Z")
	return at
}

// locate finds the dated folder that dir is or leads to.
func locate(dir string) (string, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", refuse(exit.NoInput, "there is no folder %s; «dmebench sweep» makes one below results/", dir)
	case err != nil:
		return "", refuse(exit.NoInput, "cannot read %s: %w", dir, cause(err))
	case !info.IsDir():
		return "", refuse(exit.NoInput, "%s is a file; name a folder such as results/quickstart", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, specName)); err == nil {
		// Through the link, so that a name in a report stays true when the link moves on.
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.Base(dir) == latestName {
			dir = real
		}
		return dir, nil
	}
	target, err := latest(dir)
	if err != nil {
		return "", err
	}
	if target == "" {
		return "", refuse(exit.NoInput, "%s holds no results%s", dir, below(dir))
	}
	return target, nil
}

// below suggests folders with results.
func below(dir string) string {
	links, _ := filepath.Glob(filepath.Join(dir, "*", latestName))
	dated, _ := filepath.Glob(filepath.Join(dir, "*", specName))
	var names []string
	for _, path := range append(links, dated...) {
		names = append(names, filepath.Dir(path))
	}
	if len(names) == 0 {
		return "; name a folder that «dmebench sweep» has made, such as results/quickstart"
	}
	return "; name one of " + strings.Join(names, ", ")
}

func readJSON(path string, to any) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(exit.NoInput, "%s is missing; the folder is not whole, start anew with «dmebench sweep --fresh»", path)
	}
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		return refuse(exit.Data, "%s: %w; the folder is not whole, start anew with «dmebench sweep --fresh»", path, cause(err))
	}
	return nil
}
