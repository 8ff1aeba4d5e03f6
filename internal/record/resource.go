package record

import (
	"fmt"
	"sync/atomic"

	"dmebench/dme"
)

// Update is what a critical section has written to a resource that all entries share.
// Times are as in an [Entry].
type Update struct {
	Node    dme.NodeID `json:"node"`
	Entry   uint64     `json:"entry"` // the number of the node's entry, from 1
	Entered int64      `json:"entered"`
	Left    int64      `json:"left"`              // when it began to write: its exit was later than that
	Fencing uint64     `json:"fencing,omitempty"` // the token of the entry; 0 if the algorithm has none
}

// LostUpdate is an update that another one has overwritten: between the read and the
// write of Other, Update was written.
type LostUpdate struct {
	Version uint64 `json:"version"` // the version Other had read
	Update  Update `json:"update"`
	Other   Update `json:"other"`
}

// The kinds of shared resources: a key of a bucket of JetStream, and memory that the processes of
// one host share, or a simulation has.
const (
	InNATS   = "nats"
	InMemory = "memory"
)

// Resource is what became of a resource that every critical section of a run was to
// read, to increment and to write back. The times of updates are on the clocks of the
// nodes' hosts, as those of entries are.
type Resource struct {
	Kind    string
	Updates uint64       // updates written
	Count   uint64       // what it was incremented to in the end: as often as it was written, if no update was lost
	Lost    uint64       // updates that were overwritten
	First   []LostUpdate // of these
	Refused uint64       // updates that came late, by their fencing tokens
}

// SharedMemory is a shared resource in memory, of the processes of one host or the nodes of a simulation:
// each critical section reads its version, and writes the next. See
// [dmebench/internal/runtime/witness.Resource], which does the same at a server.
type SharedMemory struct {
	is      atomic.Uint64 // the largest fencing token << 32 | the version
	updates atomic.Uint64
	lost    atomic.Uint64 // updates that were overwritten
	refused atomic.Uint64 // updates that came late
}

const maxFencing = 1<<32 - 1

// Read returns the version, and shows a fencing token, if there is one.
func (m *SharedMemory) Read(fencing uint64) (version uint64, err error) {
	if fencing > maxFencing {
		return 0, fmt.Errorf("resource: a fencing token of %d: in memory there is room for %d", fencing, uint64(maxFencing))
	}
	for {
		is := m.is.Load()
		if fencing <= is>>32 || m.is.CompareAndSwap(is, fencing<<32|is&maxFencing) {
			return is & maxFencing, nil
		}
	}
}

// Write writes the version after the one that was read.
func (m *SharedMemory) Write(version, fencing uint64) {
	for {
		is := m.is.Load()
		if fencing > 0 && fencing < is>>32 {
			m.refused.Add(1)
			return
		}
		if m.is.CompareAndSwap(is, is+1) {
			m.updates.Add(1)
			if is&maxFencing != version {
				m.lost.Add(1)
			}
			return
		}
	}
}

// State returns what has become of the resource.
func (m *SharedMemory) State() Resource {
	s := Resource{Kind: InMemory, Updates: m.updates.Load(), Lost: m.lost.Load(), Refused: m.refused.Load()}
	s.Count = s.Updates - s.Lost
	return s
}
