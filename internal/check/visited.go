package check

import (
	"sync"

	"dmebench/dme/vnet"
)

// visited is the set of the states that have been reached, by their hashes. It
// takes 21 to 43 bytes for each state.
type visited struct {
	shards [visitedShards]shard
}

const visitedShards = 256

type shard struct {
	mu    sync.Mutex
	slots []vnet.Hash // open addressing; a power of two; the zero hash is free
	used  int
	_     [24]byte // neighbours have a cache line each
}

// add adds a state, and reports whether it is new.
func (v *visited) add(h vnet.Hash) bool {
	if h == (vnet.Hash{}) {
		h.A = 1
	}
	s := &v.shards[h.A%visitedShards]
	s.mu.Lock()
	isNew := s.add(h)
	s.mu.Unlock()
	return isNew
}

func (s *shard) add(h vnet.Hash) bool {
	if 4*(s.used+1) > 3*len(s.slots) {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := h.B & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return false
		case vnet.Hash{}:
			s.slots[i] = h
			s.used++
			return true
		}
	}
}

func (s *shard) grow() {
	old := s.slots
	s.slots = make([]vnet.Hash, max(64, 2*len(old)))
	mask := uint64(len(s.slots) - 1)
	for _, h := range old {
		if h == (vnet.Hash{}) {
			continue
		}
		i := h.B & mask
		for s.slots[i] != (vnet.Hash{}) {
			i = (i + 1) & mask
		}
		s.slots[i] = h
	}
}
