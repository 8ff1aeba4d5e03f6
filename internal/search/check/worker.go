package check

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

type worker struct {
	*vnet.Walker
	search  *exhaustive
	classes *vnet.Classes // nil: a state counts for itself alone
	steps   []vnet.Step   // scratch
	reached               // and still to be looked up
	moves   int           // from the state that is being expanded
	before  vnet.Sleep    // the steps from it that stand before the one that is being taken
	taken   uint64        // steps, in its batch
	count   uint64        // of its batch, the new ones
	out     []*batch      // the new ones, for the next layer
	packed  []byte        // scratch
	held    int           // bytes that its walker is known to hold
	spent   bool          // the memory is
	_       [128]byte     // keeps other workers off its cache lines
}

// reached are states that may have been visited before. They are looked up
// shard by shard and kept in their order: neighbours have much in common, which
// is then still in the processor's cache when they are expanded.
type reached struct {
	vectors []uint32
	states  []candidate
	isNew   []bool
	shards  [][]int32 // indexes of the states of each
}

type candidate struct {
	stepped
	from origin
}

// reachedMost: one lock for dozens of states, which all stay in the processor's cache.
const reachedMost = 1024

func newWorker(x *exhaustive) *worker {
	most := statesIn(1<<17, x.width, reachedMost)
	w := &worker{search: x, Walker: x.space.NewWalker(), reached: reached{
		vectors: make([]uint32, 0, most*x.width), states: make([]candidate, 0, most),
		isNew: make([]bool, most), shards: make([][]int32, len(x.seen.shards)),
	}}
	if x.Memory > 0 { // several workers make room at the same time
		w.KeepAtMost(int(x.Memory) / (32 * x.workers))
	}
	const originBytes = 8
	x.hold(most * (4*x.width + stateBytes + originBytes))
	if x.byClass {
		w.classes = x.space.NewClasses()
	} else if x.reduction != nil {
		w.Reduce(x.reduction)
	}
	return w
}

func (w *worker) expandBatch(b *batch) {
	w.taken, w.count = 0, 0
	x, width := w.search, w.search.width
	w.unpack(b)
	// All of a batch are judged before any is expanded: they are near each other in memory, and so is
	// what is known of them.
	brokenAt, broken := w.FirstBroken(b.vectors, func(i int) dme.NodeID { return b.states[i].changed })
	for i, state := range b.states {
		v := b.vectors[i*width : (i+1)*width]
		steps, stuck := w.Enabled(v, w.steps[:0])
		w.steps = steps
		if w.spent {
			break
		}
		at := b.first + uint64(i)
		var bad *vnet.Violation
		if i == brokenAt {
			bad = broken
		}
		if stuck && !x.SafetyOnly {
			bad = stalled(w.Waiting(v))
		}
		w.moves = 0
		move := -1 // the state itself
		w.before = 0
		for bad == nil && move+1 < len(steps) && !w.spent {
			move++
			sleep := w.SleepOf(steps[move])
			if state.asleep&sleep != 0 { // leads where another state's step does
				w.taken++
				w.moves++
			} else {
				bad = w.take(v, state.Hash, &steps[move], sleep, at)
			}
			w.before |= sleep
		}
		if bad != nil {
			x.find(&finding{Violation: *bad, state: at, move: move})
			break
		}
	}
	w.lookUp()
	own := w.Footprint()
	if w.classes != nil {
		own += w.classes.Footprint()
	}
	x.progressed(own, &w.held, w.taken, w.count, uint64(len(b.states)))
}

// take takes a step from a state, by its number, and offers what it leads to: a move for each.
func (w *worker) take(v []uint32, h vnet.Hash, step *vnet.Step, sleep vnet.Sleep, state uint64) (bad *vnet.Violation) {
	w.taken++
	if w.classes != nil {
		return w.classes.Step(w.Walker, v, *step, func(rep []uint32) {
			w.offer(rep, stepped{Hash: w.search.space.HashOf(rep)}, originOf(state, w.moves))
			w.moves++
		})
	}
	if bad = w.Do(v, h, *step); bad != nil {
		return bad
	}
	next := stepped{changed: step.Node}
	if w.search.reduction != nil {
		var forced int
		forced, bad = w.Settle(nil)
		if w.taken += uint64(forced); bad != nil {
			return bad
		}
	} else if sleep != 0 {
		next.asleep = w.Asleep(w.before, step.Node)
	}
	next.Hash = w.Hash
	w.offer(w.Next, next, originOf(state, w.moves))
	w.moves++
	return nil
}

func (w *worker) offer(v []uint32, s stepped, from origin) {
	shard := &w.shards[w.search.seen.shardOf(s.Hash)]
	*shard = append(*shard, int32(len(w.states)))
	w.vectors = append(w.vectors, v...)
	w.states = append(w.states, candidate{s, from})
	if len(w.states) == cap(w.states) {
		w.lookUp()
	}
}

func (w *worker) lookUp() {
	for i, which := range w.shards {
		if len(which) > 0 {
			w.search.seen.shards[i].add(w.states, which, w.isNew)
			w.shards[i] = which[:0]
		}
	}
	width := w.search.width
	for i := range w.states {
		if w.isNew[i] {
			w.isNew[i] = false
			w.count++
			w.push(w.vectors[i*width:(i+1)*width], &w.states[i])
		}
	}
	w.vectors, w.states = w.vectors[:0], w.states[:0]
}

func (w *worker) push(v []uint32, c *candidate) {
	var b *batch
	if n := len(w.out); n > 0 && len(w.out[n-1].states) < w.search.batch {
		b = w.out[n-1]
	} else {
		w.packLast()
		b = w.search.newBatch()
		w.out = append(w.out, b)
		w.spent = w.search.memory.spent.Load()
	}
	b.origins[len(b.states)] = c.from
	b.vectors = append(b.vectors, v...)
	b.states = append(b.states, c.stepped)
}

func (w *worker) packLast() {
	if n := len(w.out); n > 0 {
		w.pack(w.out[n-1])
	}
}

func (w *worker) filled() []*batch {
	w.packLast()
	out := w.out
	w.out = nil
	return out
}

// visited is the set of the states that have been reached, by their hashes. Of many states each
// takes 21 to 43 bytes. States are added many at a time: a lock is taken once for all of them, and
// their places in memory, which are far from each other, are fetched together. If the memory is
// spent no more are added.
type visited struct {
	shards []shard // a power of two
	shift  int     // a hash's A without these low bits is the number of its shard
}

// manyShards are enough that several goroutines seldom wait for each other.
const manyShards = 32

func newVisited(goroutines int, memory *account) visited {
	v := visited{make([]shard, 1), 64}
	if goroutines > 1 {
		v = visited{make([]shard, manyShards), 64 - bits.Len(manyShards-1)}
	}
	for i := range v.shards {
		v.shards[i].memory, v.shards[i].little = memory, 1<<16/len(v.shards)
	}
	return v
}

func (v *visited) shardOf(h vnet.Hash) int { return int(h.A >> v.shift) }

type shard struct {
	mu      sync.Mutex
	slots   []vnet.Hash // open addressing; a power of two; the zero hash is free
	shift   int         // a hash's B without these low bits is its first place
	used    int
	little  int // room that is doubled twice at a time
	memory  *account
	fetched uint64   // see add; never looked at
	_       [64]byte // keeps other shards off its cache lines
}

// add adds the states with the given indexes, and notes which of them are new.
func (s *shard) add(states []candidate, which []int32, isNew []bool) {
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
		fetched += slots[states[i].B>>shift].A
	}
	s.fetched = fetched
	mask := len(slots) - 1
	for _, i := range which {
		h := states[i].Hash
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

// grow doubles the room, twice while that is little, if there is memory for it. The order of places
// is that of hashes, so that old and new ones are gone through from end to end.
func (s *shard) grow() bool {
	old := s.slots
	room := max(32, 2*len(old))
	if room < s.little {
		room *= 2
	}
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

// bitHashes is how many bits of a bitstate search stand for a state. Three leave
// out the fewest while there are at least four to five bits for each state, and
// cost three accesses to memory.
const bitHashes = 3

// bitset is the set of the states that have been reached, by a few bits of each: a Bloom filter (B.
// H. Bloom, CACM 13(7), 1970), used for states by G. J. Holzmann, An Analysis of Bitstate Hashing,
// PSTV 1995. A state whose bits are all set already, by others, is taken for one that was reached.
// Any number of goroutines may use it; for two that add a state at the same time it may be new to
// both.
type bitset struct {
	words []atomic.Uint64
	set   atomic.Uint64 // bits
}

// add adds a state, and reports whether it seems to be new.
func (b *bitset) add(h vnet.Hash) (isNew bool) {
	// Bits are A, A+B, A+2B: A. Kirsch, M. Mitzenmacher, Less Hashing, Same
	// Performance: Building a Better Bloom Filter, ESA 2006.
	room := 64 * uint64(len(b.words))
	var set uint64
	for i := range uint64(bitHashes) {
		at, _ := bits.Mul64(h.A+i*h.B, room)
		bit := uint64(1) << (at % 64)
		if word := &b.words[at/64]; word.Load()&bit == 0 && word.Or(bit)&bit == 0 {
			set++
		}
	}
	if set > 0 {
		b.set.Add(set)
	}
	return set > 0
}

func (b *bitset) filled() float64 { return float64(b.set.Load()) / (64 * float64(len(b.words))) }

// omission is the probability with which a state that is new would be taken for an old one now.
func (b *bitset) omission() float64 { return math.Pow(b.filled(), bitHashes) }
