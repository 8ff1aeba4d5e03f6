package check

import (
	"slices"
	"sync"
)

// ancestry remembers from which state each state was first reached, and by
// which of the moves that were possible there: 8 bytes for each state. States
// are numbered in blocks, each of which one goroutine fills.
type ancestry struct {
	mu     sync.Mutex
	blocks []*[blockSize]origin
}

const blockSize = 512

// origin is the number of the state before, plus one, and the index of the
// move; zero at the beginning.
type origin uint64

const moveBits = 20

func originOf(state uint64, move int) origin { return origin((state+1)<<moveBits | uint64(move)) }

func (o origin) split() (state uint64, move int) {
	return uint64(o>>moveBits) - 1, int(o & (1<<moveBits - 1))
}

// block returns a new block and the number of its first state.
func (a *ancestry) block() (first uint64, block *[blockSize]origin) {
	block = new([blockSize]origin)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.blocks = append(a.blocks, block)
	return uint64(len(a.blocks)-1) * blockSize, block
}

// path returns the moves that lead from the beginning to a state.
func (a *ancestry) path(state uint64) []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	var moves []int
	for {
		o := a.blocks[state/blockSize][state%blockSize]
		if o == 0 {
			slices.Reverse(moves)
			return moves
		}
		var move int
		state, move = o.split()
		moves = append(moves, move)
	}
}
