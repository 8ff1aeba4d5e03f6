package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dmebench/internal/exit"
	"dmebench/result"
)

// Names in a folder of results.
const (
	specName        = "spec.yaml"
	environmentName = "environment.json"
	planName        = "plan.json"
	cellsName       = "cells"
	lockName        = ".lock"

	folderTime = "2006-01-02T15-04-05Z"
)

// storeVersion is the version of the JSON files in a folder of results.
const storeVersion = 1

// cellFile is the JSON form of cells/<hash>.json.
type cellFile struct {
	SchemaVersion int            `json:"schema_version"`
	Hash          string         `json:"hash"`
	Label         string         `json:"label"`
	Transport     string         `json:"transport_label"`
	Workload      string         `json:"workload_label"`
	Repetition    int            `json:"repetition"`
	Result        *result.Result `json:"result"`
}

// planFile is the JSON form of plan.json, which says what should be there.
type planFile struct {
	SchemaVersion int               `json:"schema_version"`
	Name          string            `json:"name"`
	Files         map[string]string `json:"files"` // SHA-256 of the files that settings name
	Cells         []planCell        `json:"cells"`
}

type planCell struct {
	Hash       string `json:"hash"`
	Label      string `json:"label"`
	Nodes      int    `json:"nodes"`
	Transport  string `json:"transport_label"`
	Workload   string `json:"workload_label"`
	Repetition int    `json:"repetition"`
}

// encode writes the plan with one cell on a line, for grep.
func (p *Plan) encode() []byte {
	files, err := json.Marshal(p.Files)
	if err != nil {
		panic("experiment: the plan has no JSON form: " + err.Error())
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"schema_version\": %d, \"name\": %q, \"files\": %s, \"cells\": [", storeVersion, p.File.Name, files)
	for i, c := range p.Cells {
		line, err := json.Marshal(planCell{
			Hash: c.Hash, Label: c.Label, Nodes: c.Spec.Nodes, Transport: c.Transport,
			Workload: c.Workload, Repetition: c.Repetition,
		})
		if err != nil {
			panic("experiment: a cell has no JSON form: " + err.Error())
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n%s", line)
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

func cellPath(dir, hash string) string { return filepath.Join(dir, cellsName, hash+".json") }

// create makes a new folder below root and lets latest point to it. On error
// nothing remains of it.
func create(root string, p *Plan, environment map[string]string, now time.Time) (dir string, err error) {
	stamp := now.UTC().Format(folderTime)
	base := stamp
	for n := 2; ; n++ {
		dir = filepath.Join(root, base)
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", refuse(exit.CantCreate, "cannot make the folder %s: %w; choose another one with --out", dir, cause(err))
		}
		base = fmt.Sprintf("%s-%d", stamp, n) // a second one within a second
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	cells := filepath.Join(dir, cellsName)
	if err := os.Mkdir(cells, 0o755); err != nil {
		return "", refuse(exit.CantCreate, "cannot make the folder %s: %w; choose another one with --out", cells, cause(err))
	}
	if environment == nil {
		environment = map[string]string{}
	}
	env, err := json.MarshalIndent(environment, "", "  ")
	if err != nil {
		return "", err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{specName, p.File.Text}, {environmentName, append(env, '\n')}, {planName, p.encode()}} {
		if err := writeFile(filepath.Join(dir, f.name), f.data); err != nil {
			return "", err
		}
	}
	return dir, setLatest(root, base)
}

// continues reports whether dir holds results of this very plan, and if not,
// why not.
func continues(dir string, p *Plan) (why string) {
	text, err := os.ReadFile(filepath.Join(dir, specName))
	if err != nil || !bytes.Equal(text, p.File.Text) {
		return "the experiment file has changed"
	}
	plan, err := os.ReadFile(filepath.Join(dir, planName))
	if err != nil || !bytes.Equal(plan, p.encode()) {
		return "the file means something else now: the program, or a file that it names, has changed"
	}
	return ""
}

// save puts a cell's result on the disk.
func save(dir string, c Cell, r *result.Result) error {
	path := cellPath(dir, c.Hash)
	b, err := json.Marshal(cellFile{
		SchemaVersion: storeVersion, Hash: c.Hash, Label: c.Label,
		Transport: c.Transport, Workload: c.Workload, Repetition: c.Repetition, Result: r,
	})
	if err != nil {
		return fmt.Errorf("experiment: the result of %s has no JSON form: %w; this is a fault of the program", c, err)
	}
	return writeFile(path, append(b, '\n'))
}

// errCorrupt is what is wrong with a result file, without its name.
var errCorrupt = errors.New("not a result")

// load reads a cell's result; nil where there is none.
func load(dir string, hash string) (*cellFile, error) {
	b, err := os.ReadFile(cellPath(dir, hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cause(err)
	}
	var c cellFile
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("%w (%v)", errCorrupt, err)
	}
	switch {
	case c.SchemaVersion != storeVersion:
		return nil, fmt.Errorf("%w of version %d", errCorrupt, storeVersion)
	case c.Hash != hash:
		return nil, fmt.Errorf("%w of this cell, but of %q", errCorrupt, c.Hash)
	case c.Result == nil || !known(c.Result.Status):
		return nil, fmt.Errorf("%w (it has no known status)", errCorrupt)
	}
	return &c, nil
}

// corrupt is the error for result files that cannot be read, a line for each.
type corrupt []string

func (c *corrupt) add(path string, err error) {
	*c = append(*c, fmt.Sprintf("%s: %v; delete it, and the sweep runs that cell again", path, err))
}

func (c corrupt) err() error {
	const shown = 10
	if len(c) == 0 {
		return nil
	}
	lines := []string(c)
	if len(lines) > shown {
		lines = append(lines[:shown:shown], fmt.Sprintf("and %d more", len(lines)-shown))
	}
	return refuse(exit.Data, "%s", strings.Join(lines, "\n"))
}

func known(s result.Status) bool {
	return s == result.OK || s == result.Violated || s == result.Stalled || s == result.Failed
}
