package dme

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// NodeSet against a map.
func TestNodeSetTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		set, twin := MakeNodeSet(n), map[NodeID]bool{}
		id := rapid.Map(rapid.IntRange(1, n), func(i int) NodeID { return NodeID(i) })
		t.Repeat(map[string]func(*rapid.T){
			"add":    func(t *rapid.T) { i := id.Draw(t, "id"); set.Add(i); twin[i] = true },
			"remove": func(t *rapid.T) { i := id.Draw(t, "id"); set.Remove(i); delete(twin, i) },
			"clear":  func(t *rapid.T) { set.Clear(); clear(twin) },
			"": func(t *rapid.T) {
				want := slices.Sorted(maps.Keys(twin))
				if got := slices.Collect(set.All()); !slices.Equal(got, want) {
					t.Fatalf("%v, want %v", got, want)
				}
				if set.Len() != len(twin) || set.Empty() != (len(twin) == 0) {
					t.Fatalf("length %d, empty %v, of %v", set.Len(), set.Empty(), want)
				}
				for i := NodeID(0); int(i) <= n+70; i++ {
					if set.Has(i) != twin[i] {
						t.Fatalf("node %d", i)
					}
				}
			},
		})
	})
}

func TestNodeSetAllStops(t *testing.T) {
	s := MakeNodeSet(100)
	s.Add(1)
	s.Add(99)
	for range s.All() {
		break
	}
}

func TestZeroNodeSet(t *testing.T) {
	var s NodeSet
	if s.Has(1) || s.Len() != 0 || !s.Empty() {
		t.Error("the zero set is not empty")
	}
}

func TestOthers(t *testing.T) {
	for n := range 70 {
		for me := NodeID(1); int(me) <= n; me++ {
			var want []NodeID
			for id := NodeID(1); int(id) <= n; id++ {
				if id != me {
					want = append(want, id)
				}
			}
			set := MakeNodeSet(n)
			set.AddOthers(n, me)
			if got := slices.Collect(Others(n, me)); !slices.Equal(got, want) || !slices.Equal(slices.Collect(set.All()), want) {
				t.Fatalf("others than %d of %d: %v, as a set %v", me, n, got, slices.Collect(set.All()))
			}
		}
	}
	for range Others(5, 2) {
		break
	}
}

// Deferred against a map.
func TestDeferredTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set Deferred
		twin := map[NodeID]Stamp{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				r := Stamp{rapid.Uint64().Draw(t, "clock"), NodeID(rapid.IntRange(1, 40).Draw(t, "node"))}
				_, found := twin[r.Node]
				if set.Add(r) == found {
					t.Fatalf("%v is added: %v", r, !found)
				}
				if !found {
					twin[r.Node] = r
				}
			},
			"clear": func(t *rapid.T) { set.Clear(); clear(twin) },
			"": func(t *rapid.T) {
				var want Deferred
				for id := NodeID(1); id <= 40; id++ {
					r, found := twin[id]
					if found {
						want = append(want, r)
					}
					if set.Has(id) != found {
						t.Fatalf("node %d", id)
					}
				}
				if !slices.Equal(set, want) {
					t.Fatalf("%v, want %v", set, want)
				}
			},
		})
	})
}

// RequestQueue against a slice that is sorted again each time.
func TestRequestQueueTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var queue, twin RequestQueue
		stamp := rapid.Custom(func(t *rapid.T) Stamp {
			return Stamp{rapid.Uint64Range(0, 5).Draw(t, "clock"), NodeID(rapid.IntRange(1, 5).Draw(t, "node"))}
		})
		has := func(id NodeID) bool { return slices.ContainsFunc(twin, func(r Stamp) bool { return r.Node == id }) }
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				r := stamp.Draw(t, "r")
				if has(r.Node) {
					return
				}
				queue.Insert(r)
				twin = append(twin, r)
				slices.SortFunc(twin, func(a, b Stamp) int {
					if a.Precedes(b) {
						return -1
					}
					return 1
				})
			},
			"remove": func(t *rapid.T) {
				id := stamp.Draw(t, "r").Node
				if queue.Remove(id) != has(id) {
					t.Fatalf("node %d of %v", id, twin)
				}
				twin = slices.DeleteFunc(twin, func(r Stamp) bool { return r.Node == id })
			},
			"remove up to": func(t *rapid.T) {
				last := stamp.Draw(t, "r")
				queue.RemoveUpTo(last)
				twin = slices.DeleteFunc(twin, func(r Stamp) bool { return !last.Precedes(r) })
			},
			"": func(t *rapid.T) {
				if !slices.Equal(queue, twin) {
					t.Fatalf("%v, want %v", queue, twin)
				}
				for id := NodeID(1); id <= 5; id++ {
					if queue.Has(id) != has(id) {
						t.Fatalf("node %d in %v", id, twin)
					}
				}
			},
		})
	})
}

// NodeQueue against a slice.
func TestNodeQueueTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q NodeQueue
		var twin []NodeID
		next := NodeID(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) { next++; q.Push(next); twin = append(twin, next) },
			"pop": func(t *rapid.T) {
				want := None
				if len(twin) > 0 {
					want, twin = twin[0], twin[1:]
				}
				if got := q.Pop(); got != want {
					t.Fatalf("popped %d, want %d", got, want)
				}
			},
			"": func(t *rapid.T) {
				front := None
				if len(twin) > 0 {
					front = twin[0]
				}
				if got := slices.Collect(q.All()); !slices.Equal(got, twin) ||
					q.Len() != len(twin) || q.Empty() != (len(twin) == 0) || q.Front() != front {
					t.Fatalf("%v, want %v", got, twin)
				}
				for id := NodeID(1); id <= next; id++ {
					if q.Has(id) != slices.Contains(twin, id) {
						t.Fatalf("node %d in %v", id, twin)
					}
				}
			},
		})
	})
}

// A queue that moves for ever takes no more memory than its longest length
// needs, and once it has that, none.
func TestNodeQueueMemory(t *testing.T) {
	var q NodeQueue
	for id := NodeID(1); id <= 10; id++ {
		q.Push(id)
	}
	turn := func() { q.Push(q.Pop()) }
	for range 1000 {
		turn()
	}
	if n := testing.AllocsPerRun(1000, turn); n != 0 {
		t.Errorf("%v allocations per turn", n)
	}
	if cap(q.items) > 64 {
		t.Errorf("memory for %d nodes, at most 10 wait", cap(q.items))
	}
}

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

// TestMemberSet compares a set of members of a list with a map, for lists of
// every length about the size of a word, one after the other in the same set.
func TestMemberSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	made := MakeMemberSet(65)
	for _, i := range []int{64, 0} {
		made.Add(i)
	}
	if got := slices.Collect(made.All()); !slices.Equal(got, []int{0, 64}) {
		t.Errorf("the first and the last of 65 are %v", got)
	}
	for i := range made.All() {
		if i > 0 {
			t.Errorf("%d comes after the loop has ended", i)
		}
		break
	}
	var set MemberSet
	if !set.Empty() || set.Has(1) {
		t.Error("the zero set has members")
	}
	for _, k := range []int{70, 65, 64, 63, 5, 1, 130} {
		set.Reset(k)
		twin := map[int]bool{}
		for range 300 {
			i := rng.IntN(k)
			if rng.IntN(2) == 0 {
				set.Add(i)
				twin[i] = true
			} else {
				set.Remove(i)
				delete(twin, i)
			}
			if set.Has(i) != twin[i] || set.Len() != len(twin) || set.Empty() != (len(twin) == 0) {
				t.Fatalf("K=%d: %v, want %v", k, slices.Collect(set.All()), twin)
			}
		}
		if got, want := slices.Collect(set.All()), slices.Sorted(maps.Keys(twin)); !slices.Equal(got, want) {
			t.Fatalf("K=%d: %v, want %v", k, got, want)
		}
	}
	if allocs := testing.AllocsPerRun(10, func() { set.Reset(100) }); allocs > 0 {
		t.Errorf("%v allocations for a list that is not longer than before", allocs)
	}
}

// lister is a node whose set of members follows its list.
type lister struct {
	Node
	list []NodeID
	set  MemberSet
}

func (l *lister) State(v *Visitor) {
	v.Nodes("list", &l.list)
	v.Members("set", &l.set, l.list)
}

// TestMemberSetState: a set is saved, loaded into one of another list, and
// printed by the numbers of its nodes; bits of no member are refused.
func TestMemberSetState(t *testing.T) {
	l := &lister{list: []NodeID{2, 70, 900}}
	l.set.Reset(3)
	l.set.Add(1)
	l.set.Add(2)
	saved := SaveState(nil, l)
	twin := &lister{list: make([]NodeID, 200)}
	twin.set.Reset(200)
	if rest, err := LoadState(saved, twin); err != nil || len(rest) > 0 {
		t.Fatal(rest, err)
	}
	if got, want := DescribeState(twin), "list=[2 70 900] set={70,900}"; got != want || DescribeState(l) != want {
		t.Errorf("%s is loaded as %s, want %s", DescribeState(l), got, want)
	}
	if again := SaveState(nil, twin); !slices.Equal(again, saved) {
		t.Errorf("saved %x, loaded and saved again %x", saved, again)
	}
	saved[len(saved)-1] = 8
	if _, err := LoadState(saved, twin); err == nil {
		t.Error("a fourth member of three was loaded")
	}
	if got, want := DescribeState(twin), "list=[2 70 900] set={}"; got != want {
		t.Errorf("what was refused is shown as %s, want %s", got, want)
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

func TestRequestQueuePop(t *testing.T) {
	var q RequestQueue
	for _, r := range []Stamp{{5, 1}, {2, 9}, {2, 3}, {7, 2}} {
		q.Insert(r)
	}
	for _, want := range []Stamp{{2, 3}, {2, 9}, {5, 1}, {7, 2}, {}, {}} {
		if got := q.Pop(); got != want {
			t.Errorf("%v comes first, want %v; then %v", got, want, q)
		}
	}
}

func TestRequestQueueAhead(t *testing.T) {
	var q RequestQueue
	q.Insert(Stamp{5, 2})
	q.Insert(Stamp{3, 4})
	for r, want := range map[Stamp][2]bool{ // of nodes 2 and 4
		{6, 1}: {true, true}, {5, 3}: {true, true}, {5, 2}: {false, true}, {5, 1}: {false, true}, {3, 4}: {false, false}, {1, 1}: {false, false},
	} {
		if got := [2]bool{q.Ahead(2, r), q.Ahead(4, r)}; got != want || q.Ahead(1, r) {
			t.Errorf("ahead of %v: %v, want %v", r, got, want)
		}
	}
}

// The claims that many papers make carry the source that they were given, and say what
// their formulas say.
func TestClaimsOfManyPapers(t *testing.T) {
	s := Setting{Nodes: 5, T: 2 * time.Second, E: 3 * time.Second}
	const source = "a paper, section 1"
	for _, x := range []struct {
		c       Claim
		of      Quantity
		formula string
		load    Load
		kind    ClaimKind
		want    float64
	}{
		{CostPerPeer(2, Light, Exact, source), MessagesPerCS, "2(N−1)", Light, Exact, 8},
		{CostPerPeer(1, Saturated, UpperBound, source), MessagesPerCS, "N−1", Saturated, UpperBound, 4},
		{InOrder("0", source), EntryOrder, "0", AnyLoad, Exact, 0},
		{SafeAndLive(source)[0], Violations, "0: mutual exclusion", AnyLoad, Exact, 0},
		{SafeAndLive(source)[1], Unserved, "0: neither deadlock nor starvation", AnyLoad, Exact, 0},
	} {
		got, ok := x.c.Prediction(s)
		if x.c.Quantity != x.of || x.c.Formula != x.formula || x.c.Load != x.load || x.c.Kind != x.kind || x.c.Source != source ||
			!ok || got != x.want {
			t.Errorf("%+v predicts %v, want %+v", x.c, got, x)
		}
	}
	formulas := map[float64][3]string{1: {"T", "1/(T + E)", "N(T + E)"}, 2: {"2T", "1/(2T + E)", "N(2T + E)"}}
	for delays, want := range map[float64][3]float64{1: {1, 1. / 5, 25}, 2: {2, 1. / 7, 35}} {
		for i, c := range HandOver(delays, UpperBound, source) {
			kind := [3]ClaimKind{UpperBound, LowerBound, UpperBound}[i]
			got, ok := c.Prediction(s)
			if of := [3]Quantity{SyncDelay, Throughput, ResponseTime}[i]; c.Quantity != of || c.Formula != formulas[delays][i] {
				t.Errorf("%vT: claim %d is of %s: %s", delays, i, c.Quantity, c.Formula)
			}
			if !ok || got != want[i] || c.Kind != kind || c.Load != Saturated || len(c.Source) < len(source) || c.Source[:len(source)] != source {
				t.Errorf("%vT: claim %d is %+v and predicts %v, want %v", delays, i, c, got, want[i])
			}
		}
	}
	// With 2 nodes, 1·(1T + E) is below 4T: the others are over before a request is answered.
	if x, ok := HandOver(1, Mean, source)[0].Prediction(Setting{Nodes: 2, T: 2 * time.Second, E: time.Second}); ok {
		t.Errorf("%v is claimed of a load that is not heavy", x)
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
