package fileio

import (
	"fmt"
	"io"
	"os"
)

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
