package commandline

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync"

	"dmebench/internal/input"
)

// files reads the files that a specification names, each once, and remembers
// them for the workers, which may be elsewhere. Safe for concurrent use.
type files struct {
	mu   sync.Mutex
	seen map[string][]byte
}

func newFiles() *files { return &files{seen: make(map[string][]byte)} }

func (f *files) read(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, ok := f.seen[name]; ok {
		return b, nil
	}
	b, err := input.ReadFile(name, input.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", name)
	}
	if err == nil {
		f.seen[name] = b
	}
	return b, err
}

// all returns what has been read so far, by name.
func (f *files) all() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}
