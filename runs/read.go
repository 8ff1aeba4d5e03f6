package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dmebench/internal/platform/fileio"
)

// ErrNone is the error if there are no results.
var ErrNone = errors.New("there are no results")

// Read reads the results at path: the folder of an experiment, for its latest sweep, or of one
// sweep; a folder in which there is one such folder; a store, perhaps compressed by gzip; a single
// result, as 'run --out' writes it; or a folder of such files, of which those of one cell are its
// repetitions, in the order of their names.
//
// It changes nothing, and may read while a sweep goes on. A line of a store, or a file beside
// others, that is not a result is left out and named in Damaged: figures that silently lack one
// would be worse than none. A single file that is not a result is an error. If there are no results
// at all the error is an [ErrNone].
func Read(path string) (*Set, error) {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return nil, fmt.Errorf("%s: %w: no such file or folder; name the results of a sweep, such as results/quickstart, "+
			"or a file that 'dmebench run --out' has made", path, ErrNone)
	case err != nil:
		return nil, fmt.Errorf("cannot read the results: %w", err)
	case !info.IsDir() && isStore(path):
		return readStore(path)
	case !info.IsDir():
		return readFiles(path, []string{path})
	}
	for _, dir := range []string{path, filepath.Join(path, "latest")} {
		if store := storeIn(dir); store != "" {
			// Through the link, so that a name in a report stays true when it moves on.
			if real, err := filepath.EvalSymlinks(filepath.Dir(store)); err == nil && filepath.Base(dir) == "latest" {
				store = filepath.Join(real, filepath.Base(store))
			}
			return readStore(store)
		}
	}
	files, err := fs.Glob(os.DirFS(path), "*.json")
	if err != nil {
		return nil, fmt.Errorf("cannot read the results in %s: %w", path, err)
	}
	switch sweeps := below(path); {
	case len(files) > 0:
	case len(sweeps) == 1:
		return Read(sweeps[0])
	case len(sweeps) > 1:
		return nil, fmt.Errorf("%s: %w; name one of %s", path, ErrNone, strings.Join(sweeps, ", "))
	default:
		return nil, fmt.Errorf("%s: %w; name a folder that 'dmebench sweep' has made, such as results/quickstart", path, ErrNone)
	}
	slices.Sort(files)
	for i, name := range files {
		files[i] = filepath.Join(path, name)
	}
	return readFiles(path, files)
}

// maxResult bounds one result, in bytes, so that a file that is none does not
// fill the memory. There is room for the counts of a million nodes.
const maxResult = 64 << 20

var errTooLong = fmt.Errorf("not a result: it has more than %d bytes", maxResult)

func below(dir string) (sweeps []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if storeIn(name) != "" || storeIn(filepath.Join(name, "latest")) != "" {
			sweeps = append(sweeps, name)
		}
	}
	return sweeps
}

// Name says which results these are: the folder of a sweep, or the path.
func (s *Set) Name() string {
	if filepath.Base(strings.TrimSuffix(s.Path, ".gz")) == StoreName {
		return filepath.Dir(s.Path)
	}
	return s.Path
}

func readFiles(path string, files []string) (*Set, error) {
	set := &Set{Path: path}
	repetitions := make(map[RunKey]int)
	for _, file := range files {
		r, err := readFile(file)
		if err != nil {
			set.Damaged = append(set.Damaged, Damage{Path: file, Err: err})
			continue
		}
		r.Repetition, r.Sections = 0, SectionsBeside(file)
		k := r.Key()
		r.Repetition = repetitions[k]
		repetitions[k]++
		set.put(r)
	}
	if len(set.Runs) == 0 {
		return nil, fmt.Errorf("%s; name a result of 'dmebench run --out' or a folder of results", set.Damaged[0])
	}
	return set, nil
}

// readFile reads the result of a run, or one with its place in an experiment.
func readFile(file string) (r Run, err error) {
	b, err := fileio.Read(file, maxResult)
	if large := (*fileio.TooLarge)(nil); errors.As(err, &large) {
		err = errTooLong
	}
	if err != nil {
		return r, err
	}
	var wrapped struct {
		Label  string
		Result *Result
	}
	if err := json.Unmarshal(b, &wrapped); err != nil {
		return r, fmt.Errorf("not a result: %w", err)
	}
	r = Run{Label: wrapped.Label, Result: wrapped.Result}
	if r.Result == nil {
		if err := json.Unmarshal(b, &r.Result); err != nil {
			return r, fmt.Errorf("not a result: %w", err)
		}
	}
	if err := r.Result.check(); err != nil {
		return r, err
	}
	if r.Label == "" {
		r.Label = r.Result.Algorithm
	}
	return r, nil
}

// Damage is a record that could not be read: a line of a store, or a file of a folder
// of results. Everything else of the set has been read.
type Damage struct {
	Path string
	Line int   // from 1; 0 of a file
	Err  error // what is wrong with it

	begin, end int64 // of the line in its store
}

// String names the record and says what is wrong with it: "runs.jsonl:17: not a
// result: unexpected end of JSON input".
func (d Damage) String() string {
	if d.Line == 0 {
		return fmt.Sprintf("%s: %v", d.Path, d.Err)
	}
	return fmt.Sprintf("%s:%d: %v", d.Path, d.Line, d.Err)
}

// Warnings says which records of the set are left out because they are damaged, and
// how their runs come back.
func (s *Set) Warnings() []string {
	var all []string
	for _, d := range s.Damaged {
		text := d.String() + "; left out"
		if d.Line > 0 {
			text += ", and measured again when the sweep is continued"
		}
		all = append(all, text)
	}
	return all
}

// SetAside says which lines were moved away when the store was opened.
func (s *Store) SetAside() []string {
	var all []string
	for _, d := range s.Damaged {
		all = append(all, fmt.Sprintf("%v; moved to %s, and its run is measured again", d, filepath.Base(s.Path)+SetAsideSuffix))
	}
	return all
}

// errCutOff is the damage of a last line that was not written to its end.
var errCutOff = errors.New("the last line is not whole: it is still being written, or its writer was ended")

// SetAsideSuffix is added to the name of a store for the file that takes its damaged
// lines.
const SetAsideSuffix = ".bad"

// setAside moves damaged lines of the store's file to a file beside it, so that they
// can be looked at and nothing is lost, and leaves a store of whole lines. The lines
// are on the disk there before they are taken away here.
func (s *Store) setAside() error {
	if len(s.Damaged) == 0 {
		return nil
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		return err
	}
	var good, moved []byte
	next := int64(0)
	for _, d := range s.Damaged {
		good = append(good, text[next:d.begin]...)
		moved = append(append(moved, bytes.TrimSuffix(text[d.begin:d.end], []byte("\n"))...), '\n')
		next = d.end
	}
	good = append(good, text[next:]...)
	bad, err := os.OpenFile(s.Path+SetAsideSuffix, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = bad.Write(moved)
	if err = errors.Join(err, bad.Sync(), bad.Close(), fileio.SyncDir(filepath.Dir(s.Path))); err != nil {
		return err
	}
	if err := fileio.Write(s.Path, good); err != nil {
		return err
	}
	f, err := os.OpenFile(s.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s.file.Close()
	s.file, s.size = f, int64(len(good))
	return nil
}
