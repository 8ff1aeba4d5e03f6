// Package fileio writes and reads files whole.
//
// A file that is written is either there as a whole, on the disk, or not at all, also after a crash
// or on a full disk. A device or a pipe that exists is written into. A file that a user names is
// read only if it is as small as such a file can be.
package fileio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const temporary = ".tmp-"

// Write replaces the file at path by data, readable by all. It is on the disk then.
func Write(path string, data []byte) error { return write(path, data, 0o644) }

// WriteSecret is Write for files that only this user may read.
func WriteSecret(path string, data []byte) error { return write(path, data, 0o600) }

func Stream(path string, produce func(io.Writer) error) error { return stream(path, produce, 0o644) }

func stream(path string, produce func(io.Writer) error, mode os.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeInto(path, produce) // a device or a pipe stays what it is
	}
	if err := streamThrough(path, produce, mode); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

func writeInto(path string, produce func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(produce(f), f.Close())
}

func write(path string, data []byte, mode os.FileMode) error {
	return stream(path, writing(data), mode)
}

func writing(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

func streamThrough(path string, produce func(io.Writer) error, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // again, if Close itself failed: harmless
			os.Remove(f.Name())
		}
	}()
	if err := produce(f); err != nil {
		return err
	}
	// A temporary file is made for its owner only; results are to be read.
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	// Some file systems report a full disk only here.
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// SyncDir makes the renames in dir survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Probe shows that files can be written in dir, and leaves none there. Any number of processes may
// do so at once.
func Probe(dir string) error {
	f, err := os.CreateTemp(dir, temporary+"*")
	if err != nil {
		return err
	}
	f.Close()
	return errors.Join(streamThrough(f.Name(), writing([]byte("dmebench\n")), 0o600), os.Remove(f.Name()))
}

func Temporary(dir, name string) string { return filepath.Join(dir, temporary+name) }

// RemoveTemporaries removes what a killed process has left half-written in dir.
func RemoveTemporaries(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporary) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Bounds for the files that the program reads, in bytes.
const (
	MostText = 1 << 20  // what people write: an experiment, a scenario, a certificate
	MostData = 64 << 20 // what programs write: the requests of a trace, a coterie
)

// Read reads a file of at most that many bytes, else the error is [TooLarge].
func Read(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(name, f, most)
}

func ReadFrom(name string, f io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, &TooLarge{name, most}
	}
	return b, nil
}

type TooLarge struct {
	Name string
	Most int64 // bytes
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("%s: more than %d bytes; that cannot be the file that is meant", e.Name, e.Most)
}
