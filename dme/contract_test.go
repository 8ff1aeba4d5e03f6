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

type left struct{ Node }

type right struct{ Node }

// A property of two nodes of a type is asked of two that are of that type.
func TestEachPairIsOfOneType(t *testing.T) {
	broken := errors.New("broken")
	holds := EachPair(func(GlobalView, NodeID, NodeID, left, left) error { return broken })
	for _, a := range []Node{left{}, right{}} {
		for _, b := range []Node{left{}, right{}} {
			asked := a == Node(left{}) && b == Node(left{})
			if got := holds(nil, 1, 2, a, b); (got != nil) != asked {
				t.Errorf("nodes %T and %T: %v", a, b, got)
			}
		}
	}
}
