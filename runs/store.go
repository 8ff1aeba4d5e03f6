package runs

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// StoreName is the name of a sweep's file of results.
const StoreName = "runs.jsonl"

// Header is the first line of a store: what the runs below it belong to.
type Header struct {
	SchemaVersion int               `json:"schema_version"`
	Started       time.Time         `json:"started"`
	Experiment    Experiment        `json:"experiment"`
	File          string            `json:"file"`        // the experiment file as it was run
	Files         map[string]string `json:"files"`       // SHA-256 of the files that settings name
	Plan          string            `json:"plan"`        // SHA-256 of everything that is to be run
	Planned       int               `json:"planned"`     // runs in all
	Environment   map[string]string `json:"environment"` // of the machine that the sweep was begun on
}

// Run is one run with its place in an experiment: every further line of a store.
type Run struct {
	Label      string  `json:"label"`     // of the algorithm
	Transport  string  `json:"transport"` // its label; "" outside an experiment
	Workload   string  `json:"workload"`  // its label; "" outside an experiment
	Repetition int     `json:"repetition"`
	Result     *Result `json:"result"`

	// Sections is the file with the records of its critical sections, if it is there: most runs
	// keep none. "" if it is not known.
	Sections string `json:"-"`
}

// RunKey identifies a run of an experiment. It is comparable.
type RunKey struct {
	Label, Transport, Workload string
	Cell                       Key
	Repetition                 int
}

// Key identifies the run. There must be a result.
func (r Run) Key() RunKey {
	return RunKey{r.Label, r.Transport, r.Workload, KeyOf(r.Result.Asked()), r.Repetition}
}

// Set is some results of one origin.
type Set struct {
	Path   string // of the store, of the one file, or of the folder of files
	Header Header // zero for results of no sweep
	Runs   []Run  // also failed ones; of each run the last result, in the order of the first ones

	// Damaged are the records that could not be read and are left out.
	Damaged []Damage

	at map[RunKey]int
}

// Missing counts the runs of the plan that have no result, or a failed one.
func (s *Set) Missing() int {
	missing := s.Header.Planned
	for _, r := range s.Runs {
		if r.Result.Status != Failed {
			missing--
		}
	}
	return max(0, missing)
}

// Find returns the result of a run; nil if there is none.
func (s *Set) Find(k RunKey) *Result {
	if i, ok := s.at[k]; ok {
		return s.Runs[i].Result
	}
	return nil
}

func (s *Set) put(r Run) {
	k := r.Key()
	if i, ok := s.at[k]; ok {
		s.Runs[i] = r
		return
	}
	if s.at == nil {
		s.at = make(map[RunKey]int)
	}
	s.at[k] = len(s.Runs)
	s.Runs = append(s.Runs, r)
}

// Store is the file of a sweep's results, in JSON Lines: a [Header], then a
// [Run] on each line. It is only ever appended to. A line is on the disk when
// Append returns; a process that is killed leaves at most one torn line. Readers
// leave out lines that are torn or otherwise damaged, and say which; OpenStore moves
// them to a file beside the store. A store that neither has made keeps results in memory alone.
type Store struct {
	Set

	// Quick leaves it to the system when a line reaches the disk, for runs that
	// take less time than a disk does. Only what the whole machine's end cuts off
	// is lost.
	Quick bool

	file *os.File // nil: nothing reaches the disk
	size int64    // of the whole lines
}

// CreateStore begins a store. There must be no file at path yet.
func CreateStore(path string, h Header) (*Store, error) {
	h.SchemaVersion = SchemaVersion
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	s := &Store{Set: Set{Path: path, Header: h}, file: f}
	if err := s.write(h); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// OpenStore opens a store to go on with it. Lines that cannot be read are moved to a
// file of the same name with [SetAsideSuffix]; Damaged says which they were.
func OpenStore(path string) (*Store, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &Store{Set: Set{Path: path}, file: f}
	unended := false
	if s.size, unended, err = s.read(f); err == nil {
		err = s.setAside()
	}
	if err == nil && unended {
		_, err = s.file.WriteAt([]byte("\n"), s.size)
		s.size++
	}
	if err != nil {
		s.file.Close()
		return nil, err
	}
	return s, nil
}

// Append adds a run. Records of critical sections that its result has go into a file
// beside the store's before that, and are no longer in memory afterwards.
func (s *Store) Append(r Run) error {
	if s.file == nil {
		s.put(r)
		return nil
	}
	r.Sections = sectionsOf(s.Path, r)
	if r.Result.Sections != nil {
		if err := writeSections(r.Sections, r.Result.Sections); err != nil {
			return err
		}
		r.Result.Sections = nil
	}
	if err := s.write(r); err != nil {
		return err
	}
	s.put(r)
	return nil
}

// write adds a line and brings it to the disk. If it does not fit, nothing of it remains.
func (s *Store) write(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("a line of %s has no JSON form: %w; this is a fault of the program", s.Path, err)
	}
	b = append(b, '\n')
	if _, err = s.file.WriteAt(b, s.size); err == nil && !s.Quick {
		err = s.file.Sync()
	}
	if err != nil {
		return errors.Join(err, s.file.Truncate(s.size))
	}
	s.size += int64(len(b))
	return nil
}

// Close ends the writing.
func (s *Store) Close() error { return s.file.Close() }

// readStore reads a store, compressed or not, without changing it.
func readStore(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s: not a regular file; results that come from elsewhere must be in one", path))
	}
	set := &Set{Path: path}
	var from io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if from, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	_, _, err = set.read(from)
	return set, err
}

// read reads a store, and returns its size, and whether its last line is a whole
// record that lacks nothing but its end.
func (s *Set) read(from io.Reader) (size int64, unended bool, err error) {
	in := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := readLine(in)
		last := errors.Is(err, io.EOF)
		switch {
		case last && number == 1:
			return 0, false, fmt.Errorf("%s: %w; start over with 'dmebench sweep --fresh'", s.Path, ErrNoHeader)
		case last && len(line) == 0:
			return size, false, nil
		case err != nil && !last:
			return size, false, fmt.Errorf("%s: %w", s.Path, err)
		}
		length := int64(len(line))
		if number == 1 {
			if err := s.readHeader(line); err != nil {
				return size, false, fmt.Errorf("%s:1: %w", s.Path, err)
			}
		} else if damage := s.readRun(line); damage == nil {
			unended = last
		} else {
			if last {
				damage = errCutOff
			}
			s.Damaged = append(s.Damaged, Damage{Path: s.Path, Line: number, Err: damage, begin: size, end: size + length})
		}
		if size += length; last {
			return size, unended, nil
		}
	}
}

func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxResult {
			return line, errTooLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// ErrNoHeader is the error for a store that was cut off in its first line.
var ErrNoHeader = errors.New("the first line, which says what the file holds, is not whole")

func (s *Set) readHeader(line []byte) error {
	if err := json.Unmarshal(line, &s.Header); err != nil {
		return fmt.Errorf("not the header of a sweep's results: %w; without it the runs belong to nothing: "+
			"repair the line, or start over with 'dmebench sweep --fresh'", err)
	}
	return checkVersion(s.Header.SchemaVersion)
}

func (s *Set) readRun(line []byte) error {
	var r Run
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("not a result: %w", err)
	}
	if err := r.Result.check(); err != nil {
		return err
	}
	r.Sections = sectionsOf(s.Path, r)
	s.put(r)
	return nil
}

func (r *Result) check() error {
	if r == nil || r.Algorithm == "" || r.Nodes < 1 || r.Status == "" {
		return errors.New("not a result: it lacks algorithm, nodes or status")
	}
	switch r.Status {
	case OK, Violated, Stalled, Failed:
		return checkVersion(r.SchemaVersion)
	}
	return fmt.Errorf("not a result: its status is %q", r.Status)
}

func checkVersion(v int) error {
	if v != SchemaVersion {
		return fmt.Errorf("results of version %d; this program reads version %d", v, SchemaVersion)
	}
	return nil
}

// storeIn returns the store of a sweep's folder, "" if there is none.
func storeIn(dir string) string {
	for _, name := range []string{StoreName, StoreName + ".gz"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func isStore(path string) bool { return strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl") }
