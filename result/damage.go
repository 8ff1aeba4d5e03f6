package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dmebench/internal/atomicfile"
)

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
	bad, err := os.OpenFile(s.Path+SetAsideSuffix, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	var good, moved []byte
	next := int64(0)
	for _, d := range s.Damaged {
		if good, err = s.appendRange(good, next, d.begin); err == nil {
			moved, err = s.appendRange(moved, d.begin, d.end)
		}
		if err != nil {
			break
		}
		if n := len(moved); n > 0 && moved[n-1] != '\n' {
			moved = append(moved, '\n')
		}
		next = d.end
	}
	if err == nil {
		_, err = bad.Write(moved)
	}
	if err == nil {
		err = bad.Sync()
	}
	if err = errors.Join(err, bad.Close()); err == nil {
		err = atomicfile.SyncDir(filepath.Dir(s.Path))
	}
	if err != nil {
		return err
	}
	if first := s.Damaged[0].begin; first == int64(len(good)) && next == s.size {
		s.size = first // a line at the end, as a process that was killed leaves
		return s.file.Truncate(first)
	}
	if good, err = s.appendRange(good, next, s.size); err != nil {
		return err
	}
	return s.replace(good)
}

// appendRange appends a part of the store's file to b.
func (s *Store) appendRange(b []byte, begin, end int64) ([]byte, error) {
	part := make([]byte, end-begin)
	_, err := s.file.ReadAt(part, begin)
	return append(b, part...), err
}

// replace lets the store go on with another file of its name.
func (s *Store) replace(text []byte) error {
	if err := atomicfile.Write(s.Path, text); err != nil {
		return err
	}
	f, err := os.OpenFile(s.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s.file.Close()
	s.file, s.size = f, int64(len(text))
	return nil
}
