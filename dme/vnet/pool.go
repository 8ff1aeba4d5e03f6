package vnet

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// Hash is the hash of a component of a state, and, by addition, of a whole
// state: each half is a sum modulo 2⁶⁴ over the components, so that a step
// needs to look only at what it changes.
type Hash struct{ A, B uint64 }

func (h Hash) plus(x Hash) Hash  { return Hash{h.A + x.A, h.B + x.B} }
func (h Hash) minus(x Hash) Hash { return Hash{h.A - x.A, h.B - x.B} }

// hashOf is strong, since it is computed once for each component, not for each state.
func hashOf(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}

// pool numbers the components of one type, equal ones equally, from 0. Any
// goroutine may look at a component whose number it has.
type pool[T any] struct {
	chunks atomic.Pointer[[]*[poolChunk]T] // replaced when it grows; chunks stay where they are
	_      [cacheLines]byte                // what follows changes on mere lookups

	mu    sync.RWMutex
	ids   map[string]uint32
	count uint32
	bytes atomic.Int64 // approximate size of all
	_     [cacheLines]byte
}

const (
	poolChunk = 1 << 9
	poolMost  = 1 << 28 // a number and a change to it fit into 32 bits

	// The memory of a component beside its bytes, approximately: itself, its place in the map, and the
	// waste of allocation.
	componentBytes = 160
)

func (p *pool[T]) at(id uint32) *T { return &(*p.chunks.Load())[id/poolChunk][id%poolChunk] }

func (p *pool[T]) len() int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.ids)
}

// id returns the number of the component whose bytes are key. If it is new, fill completes it; key
// does not outlive the call, but the string does.
func (p *pool[T]) id(key []byte, fill func(x *T, id uint32, key string)) uint32 {
	p.mu.RLock()
	id, ok := p.ids[string(key)]
	p.mu.RUnlock()
	if ok {
		return id
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, ok := p.ids[string(key)]; ok {
		return id
	}
	if p.ids == nil {
		p.ids = make(map[string]uint32)
	}
	id = p.count
	if id >= poolMost {
		panic("vnet: more than 2²⁸ different components; search fewer requests")
	}
	p.count++
	if id%poolChunk == 0 {
		var chunks []*[poolChunk]T
		if old := p.chunks.Load(); old != nil {
			chunks = *old
		}
		// A reader of the old slice does not look beyond its length.
		chunks = append(chunks, new([poolChunk]T))
		p.chunks.Store(&chunks)
	}
	kept := string(key)
	fill(p.at(id), id, kept)
	p.ids[kept] = id
	p.bytes.Add(int64(componentBytes + len(kept)))
	return id
}

// table maps numbers to numbers. One goroutine uses it.
type table struct {
	slots []entry // open addressing; a power of two
	used  int
}

type entry struct {
	key   uint64 // plus one, so that zero is free
	value uint32
}

func (t *table) get(key uint64) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := scatter(key) & mask; ; i = (i + 1) & mask {
		switch t.slots[i].key {
		case key + 1:
			return t.slots[i].value, true
		case 0:
			return 0, false
		}
	}
}

func (t *table) put(key uint64, value uint32) {
	if 4*(t.used+1) > 3*len(t.slots) {
		old := t.slots
		t.slots = make([]entry, max(1024, 2*len(old)))
		for _, e := range old {
			if e.key != 0 {
				t.place(e)
			}
		}
	}
	t.place(entry{key + 1, value})
	t.used++
}

func (t *table) place(e entry) {
	mask := uint64(len(t.slots) - 1)
	i := scatter(e.key-1) & mask
	for t.slots[i].key != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = e
}

// scatter is the finalizer of MurmurHash3.
func scatter(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
