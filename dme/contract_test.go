package dme

import (
	"errors"
	"testing"
)

// The longest vector there may be arrives, and a longer one does not.
func TestLongestVector(t *testing.T) {
	for n, want := range map[int]error{MaxVec: nil, MaxVec + 1: ErrMalformed} {
		b := AppendMessage(nil, &Message{Kind: 1, Vec: make([]uint64, n)})
		var m Message
		if err := DecodeMessage(b, &m, nil); !errors.Is(err, want) || want == nil && len(m.Vec) != n {
			t.Errorf("%d elements: %d, %v; want %v", n, len(m.Vec), err, want)
		}
	}
}

// people is a view of nodes of two types, one of which is down.
type people struct{ GlobalView }

type left struct{ Node }

type right struct{ Node }

func (people) Node(id NodeID) Node { return [...]Node{nil, left{}, right{}, left{}, nil}[id] }

// A property of two nodes of a type is asked of two that are there, and of that type.
func TestEachPairIsOfOneType(t *testing.T) {
	broken := errors.New("broken")
	holds := EachPair(func(GlobalView, NodeID, NodeID, left, left) error { return broken })
	for i := NodeID(1); i <= 4; i++ {
		for j := NodeID(1); j <= 4; j++ {
			asked := i%2 == 1 && j%2 == 1
			if got := holds(people{}, i, j); (got != nil) != asked {
				t.Errorf("nodes %d and %d: %v", i, j, got)
			}
		}
	}
}
