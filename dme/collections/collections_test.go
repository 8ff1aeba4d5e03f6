package collections

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dmebench/dme"
)

// NodeSet against a map.
func TestNodeSetTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		set, twin := MakeNodeSet(n), map[dme.NodeID]bool{}
		id := rapid.Map(rapid.IntRange(1, n), func(i int) dme.NodeID { return dme.NodeID(i) })
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) { i := id.Draw(t, "id"); set.Add(i); twin[i] = true },
			"others": func(t *rapid.T) {
				me := id.Draw(t, "me")
				set.AddOthers(n, me)
				for i := range dme.Others(n, me) {
					twin[i] = true
				}
			},
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
				for i := dme.NodeID(0); int(i) <= n+70; i++ {
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

// Deferred against a map.
func TestDeferredTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set Deferred
		twin := map[dme.NodeID]dme.Stamp{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				r := stamp(rapid.Uint64().Draw(t, "clock"), dme.NodeID(rapid.IntRange(1, 40).Draw(t, "node")))
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
				for id := dme.NodeID(1); id <= 40; id++ {
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
		drawn := rapid.Custom(func(t *rapid.T) dme.Stamp {
			return stamp(rapid.Uint64Range(0, 5).Draw(t, "clock"), dme.NodeID(rapid.IntRange(1, 5).Draw(t, "node")))
		})
		has := func(id dme.NodeID) bool {
			return slices.ContainsFunc(twin, func(r dme.Stamp) bool { return r.Node == id })
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				r := drawn.Draw(t, "r")
				if has(r.Node) {
					return
				}
				queue.Insert(r)
				twin = append(twin, r)
				slices.SortFunc(twin, func(a, b dme.Stamp) int {
					if a.Precedes(b) {
						return -1
					}
					return 1
				})
			},
			"remove": func(t *rapid.T) {
				id := drawn.Draw(t, "r").Node
				if queue.Remove(id) != has(id) {
					t.Fatalf("node %d of %v", id, twin)
				}
				twin = slices.DeleteFunc(twin, func(r dme.Stamp) bool { return r.Node == id })
			},
			"pop": func(t *rapid.T) {
				var want dme.Stamp
				if len(twin) > 0 {
					want, twin = twin[0], twin[1:]
				}
				if got := queue.Pop(); got != want {
					t.Fatalf("%v comes first, want %v", got, want)
				}
			},
			"remove up to": func(t *rapid.T) {
				last := drawn.Draw(t, "r")
				queue.RemoveUpTo(last)
				twin = slices.DeleteFunc(twin, func(r dme.Stamp) bool { return !last.Precedes(r) })
			},
			"": func(t *rapid.T) {
				if !slices.Equal(queue, twin) {
					t.Fatalf("%v, want %v", queue, twin)
				}
				for id := dme.NodeID(1); id <= 5; id++ {
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
		var twin []dme.NodeID
		next := dme.NodeID(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) { next++; q.Push(next); twin = append(twin, next) },
			"pop": func(t *rapid.T) {
				want := dme.None
				if len(twin) > 0 {
					want, twin = twin[0], twin[1:]
				}
				if got := q.Pop(); got != want {
					t.Fatalf("popped %d, want %d", got, want)
				}
			},
			"": func(t *rapid.T) {
				front := dme.None
				if len(twin) > 0 {
					front = twin[0]
				}
				if got := slices.Collect(q.All()); !slices.Equal(got, twin) ||
					q.Len() != len(twin) || q.Empty() != (len(twin) == 0) || q.Front() != front {
					t.Fatalf("%v, want %v", got, twin)
				}
				for id := dme.NodeID(1); id <= next; id++ {
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
	for id := dme.NodeID(1); id <= 10; id++ {
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
	dme.Node
	list []dme.NodeID
	set  MemberSet
}

func (l *lister) State(v *dme.Visitor) {
	v.Nodes("list", &l.list)
	l.set.Show(v, "set", l.list)
}

// TestMemberSetState: a set is saved, loaded into one of another list, and
// printed by the numbers of its nodes; bits of no member are refused.
func TestMemberSetState(t *testing.T) {
	l := &lister{list: []dme.NodeID{2, 70, 900}}
	l.set.Reset(3)
	l.set.Add(1)
	l.set.Add(2)
	saved := dme.SaveState(nil, l)
	twin := &lister{list: make([]dme.NodeID, 200)}
	twin.set.Reset(200)
	if rest, err := dme.LoadState(saved, twin); err != nil || len(rest) > 0 {
		t.Fatal(rest, err)
	}
	if got, want := dme.DescribeState(twin), "list=[2 70 900] set={70,900}"; got != want || dme.DescribeState(l) != want {
		t.Errorf("%s is loaded as %s, want %s", dme.DescribeState(l), got, want)
	}
	if again := dme.SaveState(nil, twin); !slices.Equal(again, saved) {
		t.Errorf("saved %x, loaded and saved again %x", saved, again)
	}
	saved[len(saved)-1] = 8
	if _, err := dme.LoadState(saved, twin); err == nil {
		t.Error("a fourth member of three was loaded")
	}
	if got, want := dme.DescribeState(twin), "list=[2 70 900] set={}"; got != want {
		t.Errorf("what was refused is shown as %s, want %s", got, want)
	}
}

func TestRequestQueueAhead(t *testing.T) {
	var q RequestQueue
	q.Insert(stamp(5, 2))
	q.Insert(stamp(3, 4))
	for r, want := range map[dme.Stamp][2]bool{ // of nodes 2 and 4
		stamp(6, 1): {true, true}, stamp(5, 3): {true, true}, stamp(5, 2): {false, true},
		stamp(5, 1): {false, true}, stamp(3, 4): {false, false}, stamp(1, 1): {false, false},
	} {
		if got := [2]bool{q.Ahead(2, r), q.Ahead(4, r)}; got != want || q.Ahead(1, r) {
			t.Errorf("ahead of %v: %v, want %v", r, got, want)
		}
	}
}

func stamp(clock uint64, node dme.NodeID) dme.Stamp { return dme.Stamp{Clock: clock, Node: node} }

// holder is a node with a collection of each type.
type holder struct {
	dme.Node
	set      NodeSet
	deferred Deferred
	requests RequestQueue
	queue    NodeQueue
}

func (h *holder) State(v *dme.Visitor) {
	h.set.Show(v, "set")
	h.deferred.Show(v, "deferred")
	h.requests.Show(v, "requests")
	h.queue.Show(v, "queue")
}

// Collections are saved, loaded over what was there before, and printed; equal ones
// are saved as equal bytes, whatever they held before.
func TestCollectionsAreState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOf(rapid.Map(rapid.IntRange(1, 100), func(i int) dme.NodeID { return dme.NodeID(i) }))
		fill := func(label string) *holder {
			h := &holder{set: MakeNodeSet(100)}
			for i, id := range some.Draw(t, label) {
				h.set.Add(id)
				h.deferred.Add(stamp(uint64(i), id))
				h.requests.Insert(stamp(uint64(id)%7, id))
				h.queue.Push(id)
			}
			for range rapid.IntRange(0, 3).Draw(t, "popped") {
				h.queue.Pop()
			}
			return h
		}
		h, other := fill("one"), fill("other")
		saved := dme.SaveState(nil, h)
		if rest, err := dme.LoadState(saved, other); err != nil || len(rest) > 0 {
			t.Fatal(rest, err)
		}
		if again := dme.SaveState(nil, other); !slices.Equal(again, saved) {
			t.Fatalf("saved %x, loaded and saved again %x", saved, again)
		}
		if got, want := dme.DescribeState(other), dme.DescribeState(h); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
	h := &holder{set: MakeNodeSet(100)}
	for _, r := range []dme.Stamp{stamp(5, 70), stamp(3, 2)} {
		h.set.Add(r.Node)
		h.deferred.Add(r)
		h.requests.Insert(r)
		h.queue.Push(r.Node)
	}
	const want = "set={2,70} deferred=[(3,2) (5,70)] requests=[(3,2) (5,70)] queue=[70 2]"
	if got := dme.DescribeState(h); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
