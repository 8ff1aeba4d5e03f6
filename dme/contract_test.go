package dme

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestOutboxIsReused(t *testing.T) {
	var out Outbox
	turn := func() {
		out.Send(2, Message{Kind: 1})
		out.Broadcast(Message{Kind: 2})
		out.Enter(Stamp{1, 1})
		out.SetTimer(1, 5)
		out.CancelTimer(1)
		out.Refuse("no")
		out.Reset()
	}
	turn()
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(out.Effects()) != 0 {
		t.Error("Reset leaves effects")
	}
	out.Send(2, Message{Kind: 1})
	out.Enter(Stamp{3, 1})
	out.CancelTimer(7)
	out.SetTimer(9, 5)
	out.Refuse("no")
	out.Left()
	want := []string{"send to 2 message 1", "enter with (3,1)", "cancel timer 7", "set timer 9 to 5", "refuse because no", "left"}
	for i, e := range out.Effects() {
		got := map[EffectKind]string{
			EffectSend: fmt.Sprintf("send to %d message %d", e.To, e.Msg.Kind), EffectEnter: fmt.Sprintf("enter with %v", e.Stamp),
			EffectCancelTimer: fmt.Sprintf("cancel timer %d", e.Timer), EffectSetTimer: fmt.Sprintf("set timer %d to %d", e.Timer, e.Delay),
			EffectRefuse: "refuse because " + e.Reason, EffectLeft: "left",
		}[e.Kind]
		if got != want[i] {
			t.Errorf("effect %d is %q, want %q", i, got, want[i])
		}
	}
}

func TestPrecedes(t *testing.T) {
	inOrder := []Stamp{{1, 1}, {1, 2}, {2, 1}, {2, 3}, {10, 1}}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if a.Precedes(b) != (i < j) {
				t.Errorf("%v before %v: %v", a, b, a.Precedes(b))
			}
		}
	}
}

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

func TestOthers(t *testing.T) {
	for n := range 5 {
		for me := NodeID(1); int(me) <= n; me++ {
			var want []NodeID
			for id := NodeID(1); int(id) <= n; id++ {
				if id != me {
					want = append(want, id)
				}
			}
			if got := slices.Collect(Others(n, me)); !slices.Equal(got, want) {
				t.Fatalf("others than %d of %d: %v", me, n, got)
			}
		}
	}
	for range Others(5, 2) {
		break
	}
}
