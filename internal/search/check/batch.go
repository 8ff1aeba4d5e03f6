package check

import (
	"encoding/binary"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// batch is a number of states of the same distance that are still to be expanded.
type batch struct {
	first   uint64 // the number of the first
	origins *[blockSize]origin
	room
	packed []byte // the states, if they have no room; else kept for its memory
}

// room is for the states of a batch.
type room struct {
	vectors []uint32
	states  []stepped
}

// stepped is a state, by its hash, the node that took the step to it, and the steps that need not
// be taken from it. None: any node may have changed. With a reduction, whose steps bring others
// about, nothing is judged.
type stepped struct {
	vnet.Hash
	changed dme.NodeID
	asleep  vnet.Sleep
}

// Bytes that a block of origins and a state of a batch take, but for its vector.
const (
	blockBytes = 8 * blockSize
	stateBytes = 32
)

// packFrom is how much a search holds when it begins to pack batches. That costs less than a tenth
// of its time. With five nodes, a packed state takes 15 bytes in place of 136. Tests change it.
var packFrom Bytes = 1 << 30

func (x *exhaustive) newBatch() *batch {
	first, origins := x.origins.block()
	x.hold(blockBytes)
	x.mu.Lock()
	defer x.mu.Unlock()
	b := new(batch)
	if n := len(x.spare); n > 0 {
		b, x.spare = x.spare[n-1], x.spare[:n-1]
	}
	b.first, b.origins, b.room = first, origins, x.takeRoom()
	return b
}

// takeRoom is called with the lock.
func (x *exhaustive) takeRoom() room {
	n := len(x.rooms)
	if n == 0 {
		x.hold((4*x.width + stateBytes) * x.batch)
		return room{make([]uint32, 0, x.batch*x.width), make([]stepped, 0, x.batch)}
	}
	r := x.rooms[n-1]
	x.rooms = x.rooms[:n-1]
	return room{r.vectors[:0], r.states[:0]}
}

// recycle takes back the room of a batch, which is packed or has been expanded. If batches are
// packed, few rooms are needed again.
func (x *exhaustive) recycle(b *batch, expanded bool) {
	packs := x.packs()
	x.mu.Lock()
	defer x.mu.Unlock()
	if packs && len(x.rooms) >= 2*x.workers {
		x.hold(-(4*x.width + stateBytes) * x.batch)
	} else {
		x.rooms = append(x.rooms, b.room)
	}
	b.room = room{}
	if expanded {
		x.spare = append(x.spare, b)
	}
}

func (x *exhaustive) packs() bool {
	from := packFrom
	if x.Memory > 0 {
		from = min(from, x.Memory/4)
	}
	return x.memory.held.Load() >= int64(from)
}

// pack packs a batch if the search holds much. Of the vector of each state there remain the
// components that differ from those of the state before, which are few: each behind its distance
// from the one before it, and 0 behind all. The hash can be computed again.
func (w *worker) pack(b *batch) {
	if !w.search.packs() {
		return
	}
	width, to := w.search.width, w.packed[:0]
	last := make([]uint32, width)
	for i, s := range b.states {
		v, before := b.vectors[i*width:(i+1)*width], -1
		for c, id := range v {
			if id != last[c] {
				to = binary.AppendUvarint(to, uint64(c-before))
				to = binary.AppendUvarint(to, uint64(id))
				before = c
			}
		}
		to = binary.AppendUvarint(append(to, 0), uint64(s.changed))
		to = binary.AppendUvarint(to, uint64(s.asleep))
		last = v
	}
	before := cap(b.packed)
	w.packed, b.packed = to, append(b.packed[:0], to...)
	w.search.hold(cap(b.packed) - before)
	w.search.recycle(b, false)
}

// unpack makes the states of a batch ready to be expanded.
func (w *worker) unpack(b *batch) {
	if b.states != nil {
		return
	}
	w.search.mu.Lock()
	b.room = w.search.takeRoom()
	w.search.mu.Unlock()
	from := b.packed
	next := func() uint64 {
		u, n := binary.Uvarint(from)
		from = from[n:]
		return u
	}
	width := w.search.width
	last := make([]uint32, width)
	for len(from) > 0 {
		at := len(b.vectors)
		b.vectors = append(b.vectors, last...)
		last = b.vectors[at:]
		for c, gap := -1, next(); gap > 0; gap = next() {
			c += int(gap)
			last[c] = uint32(next())
		}
		b.states = append(b.states, stepped{w.search.space.HashOf(last), dme.NodeID(next()), vnet.Sleep(next())})
	}
}
