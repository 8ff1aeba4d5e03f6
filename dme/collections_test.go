package dme

import (
	"maps"
	"slices"
	"testing"

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

// RequestQueue against a slice that is sorted anew each time.
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
	kinds := []EffectKind{EffectSend, EffectEnter}
	for i, e := range out.Effects() {
		if e.Kind != kinds[i] {
			t.Errorf("effect %d is %d, want %d", i, e.Kind, kinds[i])
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
