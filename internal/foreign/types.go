package foreign

import (
	"slices"
	"sync"

	"dmebench/dme"
)

// Types numbers the types of messages as kinds, in the order in which they are
// first met. There are as many counters as there are kinds: the last one is for all
// types that come later. The zero value is ready for use.
type Types struct {
	mu    sync.Mutex
	names []string
}

// Kind returns the number of a type.
func (t *Types) Kind(name []byte) dme.Kind {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, known := range t.names {
		if known == string(name) {
			return dme.Kind(i + 1)
		}
	}
	if len(t.names) >= dme.MaxKinds-1 {
		if len(t.names) < dme.MaxKinds {
			t.names = append(t.names, otherTypes)
		}
		return dme.MaxKinds
	}
	t.names = append(t.names, string(name))
	return dme.Kind(len(t.names))
}

// Names returns the types, that of kind 1 first.
func (t *Types) Names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.names)
}

// Union lists types that several have met, each once and in the order of their names.
// Where there are more than counters, what is left over is one, the last.
func Union(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	all := len(names)
	names = slices.DeleteFunc(names, func(name string) bool { return name == otherTypes })
	if len(names) < all || all > dme.MaxKinds {
		names = append(names[:min(len(names), dme.MaxKinds-1)], otherTypes)
	}
	return names
}
