package check

import (
	"math/bits"
	"sync"

	"dmebench/dme/vnet"
)

// visited is the set of the states that have been reached, by their hashes. It
// takes 21 to 43 bytes for each state. States are added many at a time: a lock
// is taken once for all of them, and their places in memory, which are far from
// each other, are fetched together. Where the memory is spent no more are added.
type visited struct {
	shards []shard // a power of two
	shift  int     // a hash's A without these low bits is the number of its shard
}

// manyShards are enough that several goroutines seldom wait for each other.
const manyShards = 32

// newVisited returns an empty set for a number of goroutines.
func newVisited(goroutines int, memory *account) visited {
	v := visited{make([]shard, 1), 64}
	if goroutines > 1 {
		v = visited{make([]shard, manyShards), 64 - bits.Len(manyShards-1)}
	}
	for i := range v.shards {
		v.shards[i].memory = memory
	}
	return v
}

// shardOf returns the number of a state's shard.
func (v *visited) shardOf(h vnet.Hash) int { return int(h.A >> v.shift) }

// shard is the part of the set that has one lock.
type shard struct {
	mu      sync.Mutex
	slots   []vnet.Hash // open addressing; a power of two; the zero hash is free
	shift   int         // a hash's B without these low bits is its first place
	used    int
	memory  *account
	fetched uint64   // see add; never looked at
	_       [64]byte // keeps other shards off its cache lines
}

// add adds those states of which the indexes are given, and notes which of them
// are new.
func (s *shard) add(hashes []vnet.Hash, which []int32, isNew []bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for 4*(s.used+len(which)) > 3*len(s.slots) {
		if !s.grow() {
			return
		}
	}
	slots, shift := s.slots, s.shift
	// Reads that do not depend on each other wait for memory together. That
	// the sum is kept keeps the compiler from leaving them out.
	var fetched uint64
	for _, i := range which {
		fetched += slots[hashes[i].B>>shift].A
	}
	s.fetched = fetched
	mask := len(slots) - 1
	for _, i := range which {
		h := hashes[i]
		if h == (vnet.Hash{}) {
			h.A = 1
		}
		at := int(h.B >> shift)
		for slots[at] != h {
			if slots[at] == (vnet.Hash{}) {
				slots[at] = h
				s.used++
				isNew[i] = true
				break
			}
			at = (at + 1) & mask
		}
	}
}

const slotBytes = 16

// grow doubles the room, if there is memory for it. The order of places is that
// of hashes, so that old and new ones are gone through from end to end.
func (s *shard) grow() bool {
	old := s.slots
	room := max(64, 2*len(old))
	if !s.memory.hold(slotBytes * room) {
		s.memory.hold(-slotBytes * room)
		return false
	}
	defer s.memory.hold(-slotBytes * len(old))
	s.slots = make([]vnet.Hash, room)
	touch(s.slots)
	s.shift = 65 - bits.Len(uint(len(s.slots)))
	mask := len(s.slots) - 1
	for _, h := range old {
		if h == (vnet.Hash{}) {
			continue
		}
		at := int(h.B >> s.shift)
		for s.slots[at] != (vnet.Hash{}) {
			at = (at + 1) & mask
		}
		s.slots[at] = h
	}
	return true
}

// touch writes to every page of slots. A page that is read before it is written
// to for the first time costs the system twice the work and, the second time,
// an interrupt of all other processors.
func touch(slots []vnet.Hash) {
	const page = 4096 / slotBytes
	for i := 0; i < len(slots); i += page {
		slots[i] = vnet.Hash{}
	}
}
