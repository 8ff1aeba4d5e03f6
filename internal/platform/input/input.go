// Package input reads files that people name: whole, and only if they are as
// small as such a file can be. A device that never ends, or the wrong file, is
// an error and not the end of the memory.
package input

import (
	"fmt"
	"io"
	"os"
)

// Bounds for the files that the program reads, in bytes.
const (
	Text = 1 << 20  // what people write: an experiment, a scenario, a certificate
	Data = 64 << 20 // what programs write: the requests of a trace, a coterie
)

// ReadFile reads a file of at most that many bytes. Its errors are those of the
// os package, and [TooLarge]. Like opening a pipe to which nobody writes, it may
// take for ever.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(name, f, most)
}

// Read is ReadFile of a file that is open, whose name is for the error.
func Read(name string, f io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, &TooLarge{name, most}
	}
	return b, nil
}

// TooLarge is the error for a file that is larger than it can be.
type TooLarge struct {
	Name string
	Most int64 // bytes
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("%s: more than %d bytes; that cannot be the file that is meant", e.Name, e.Most)
}
