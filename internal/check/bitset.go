package check

import (
	"math"
	"math/bits"
	"sync/atomic"

	"dmebench/dme/vnet"
)

// bitHashes is how many bits of a bitstate search stand for a state. Three leave
// out the fewest while there are at least four to five bits for each state, and
// cost three accesses to memory.
const bitHashes = 3

// bitset is the set of the states that have been reached, by a few bits of each:
// a Bloom filter (B. H. Bloom, CACM 13(7), 1970), used for states by G. J.
// Holzmann, An Analysis of Bitstate Hashing, PSTV 1995. A state of which all bits
// are set already, by others, is taken for one that was reached. Any number of
// goroutines may use it; two that add a state at the same time may both be told
// that it is new.
type bitset struct {
	words []atomic.Uint64
	set   atomic.Uint64 // bits
}

func newBitset(size Bytes) *bitset {
	const wordBytes = 8
	return &bitset{words: make([]atomic.Uint64, max(1, size/wordBytes))}
}

// add adds a state, and reports whether it is new as far as can be told.
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

// filled is which part of the bits are set.
func (b *bitset) filled() float64 { return float64(b.set.Load()) / (64 * float64(len(b.words))) }

// omission is the probability with which a state that is new would be taken for an
// old one now.
func (b *bitset) omission() float64 { return math.Pow(b.filled(), bitHashes) }
