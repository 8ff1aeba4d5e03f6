package check

import (
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

// queuer asks with a timestamp, and enters when its request is the first of those
// that it has heard of. It waits for nobody's word, so that two may be inside.
type queuer struct {
	id       dme.NodeID
	distance uint64 // a message so far above its clock has it enter, asked or not; 0: none has
	tells    bool   // a RELEASE names the request
	clock    uint64
	request  dme.Stamp
	inside   bool
	queue    collections.RequestQueue
}

func queuers(name string, distance uint64) *dme.Algorithm {
	return queuersLike(name, queuer{distance: distance})
}

func queuersLike(name string, q queuer) *dme.Algorithm {
	a := toy(name, func(id dme.NodeID, _ int) dme.Node {
		one := q
		one.id = id
		return &one
	}, "REQUEST", "RELEASE")
	a.Clocks = func(_ int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
		if m.Kind == 1 {
			v.Timestamp("", from, &m.Clock)
		} else {
			v.Rising("", from, &m.Clock)
		}
		for i := range m.Vec {
			v.Timestamp("", from, &m.Vec[i])
		}
	}
	return a
}

func (q *queuer) Request(out *dme.Outbox) {
	q.clock++
	q.request = dme.Stamp{Clock: q.clock, Node: q.id}
	q.queue.Insert(q.request)
	out.Broadcast(dme.Message{Kind: 1, Clock: q.clock})
	q.enter(out)
}

func (q *queuer) Release(out *dme.Outbox) {
	q.clock++
	q.queue.Remove(q.id)
	released := dme.Message{Kind: 2, Clock: q.clock}
	if q.tells {
		released.Vec = []uint64{q.request.Clock}
	}
	q.request, q.inside = dme.Stamp{}, false
	out.Broadcast(released)
}

func (q *queuer) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if q.distance > 0 && m.Clock >= q.clock+q.distance {
		out.Enter(dme.Stamp{})
	}
	q.clock = max(q.clock, m.Clock) + 1
	if m.Kind == 1 {
		q.queue.Insert(dme.Stamp{Clock: m.Clock, Node: from})
	} else {
		q.queue.Remove(from)
	}
	if q.distance == 0 {
		q.enter(out)
	}
}

func (q *queuer) enter(out *dme.Outbox) {
	if q.request != (dme.Stamp{}) && !q.inside && q.queue[0] == q.request {
		q.inside = true
		out.Enter(q.request)
	}
}

func (q *queuer) State(v *dme.Visitor) {
	v.Rising("clock", q.id, &q.clock)
	v.Stamp("request", &q.request)
	v.Bool("inside", &q.inside)
	q.queue.Show(v, "queue")
}

// What is found among classes is shown by a network of nodes.
func TestClassesShowWhatTheyFind(t *testing.T) {
	s, err := New(queuers("queuers", 0), Options{Nodes: 2, Requests: 2, Reduce: true})
	if err != nil {
		t.Fatal(err)
	}
	x := s.reduced(t.Context())
	if x == nil || !x.byClass || x.found == nil {
		t.Fatalf("%+v", x)
	}
	if trace, err := x.trace(); err != nil || trace.Violation.Property != vnet.Exclusion {
		t.Errorf("%+v, %v", trace, err)
	}
}

// What only classes show is no violation: a node that looks at distances between
// clocks sees greater ones there than in the system.
func TestWhatOnlyClassesShowIsNoViolation(t *testing.T) {
	o := Options{Nodes: 2, Requests: 1, Reduce: true}
	a := queuers("distant", 2)
	r, err := Exhaustive(t.Context(), a, o)
	if err != nil || !r.Complete || r.Reduced || r.Violation != nil {
		t.Errorf("%+v, %v; want the whole search without reduction, which finds nothing", r, err)
	}
	o.States = 3
	if r, err = Exhaustive(t.Context(), a, o); err != nil || r.Complete || r.Violation != nil || r.Stopped != spurious {
		t.Errorf("%+v, %v; want an incomplete search", r, err)
	}
}

// Each step that nodes take from a state is taken by the classes from a representative
// that covers the state, and what it leads to is covered again. Lamport's messages have
// either a timestamp or a rising clock, others have both.
func TestTimestampsCoverEveryState(t *testing.T) {
	budgets := [][2]int{{2, 2}, {2, 3}, {3, 2}}
	if testkit.Full() {
		budgets = append(budgets, [2]int{2, 6}, [2]int{3, 3})
	}
	telling := queuersLike("telling", queuer{tells: true})
	for _, a := range []*dme.Algorithm{lamport.Algorithm(), lamport.Optimized(), telling} {
		for _, b := range budgets {
			s, err := New(a, Options{Nodes: b[0], Requests: b[1], WithoutInvariants: true})
			if err != nil {
				t.Fatal(err)
			}
			space := vnet.NewSpace(s.model)
			walker, low, classes := space.NewWalker(), space.NewWalker(), space.NewClasses()
			first, h := space.Of(vnet.New(s.model))
			type pair struct {
				state, rep []uint32
				h          vnet.Hash
			}
			todo := []pair{{first, slices.Clone(classes.Of(first)), h}}
			seen, reps := map[vnet.Hash]bool{h: true}, map[string]bool{}
			for len(todo) > 0 {
				at := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				reps[string(textOf(at.rep))] = true
				steps, _ := walker.Enabled(at.state, nil)
				for _, x := range steps {
					if bad := walker.Do(at.state, at.h, x); bad != nil && a != telling {
						t.Fatal(bad)
					}
					var covering []uint32
					bad := classes.Step(low, at.rep, x, func(rep []uint32) {
						kept := slices.Clone(rep)
						if covering == nil && classes.Covers(kept, walker.Next) {
							covering = kept
						}
					})
					if bad != nil && a == telling {
						continue // a search ends here
					}
					if covering == nil {
						t.Fatalf("%s, %v: what %v leads to is not covered", a.Name, b, x)
					}
					if !seen[walker.Hash] {
						seen[walker.Hash] = true
						todo = append(todo, pair{slices.Clone(walker.Next), covering, walker.Hash})
					}
				}
			}
			if len(reps) >= len(seen) {
				t.Errorf("%s, %v: %d representatives of %d states", a.Name, b, len(reps), len(seen))
			}
		}
	}
}

func textOf(v []uint32) (b []byte) {
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}

// Lamport's algorithm is proved for two nodes: what follows on a link bounds a
// message's clock from above, and a node's clock is not below what it has sent. Else
// classes would have schedules in which two nodes are inside. The proof needs as
// many classes as these: more would tell states apart that do the same.
func TestLamportIsProved(t *testing.T) {
	for _, c := range []struct {
		algorithm *dme.Algorithm
		classes   uint64
	}{{lamport.Algorithm(), 507}, {lamport.Optimized(), 169}} {
		r := livenessOf(t, c.algorithm, Options{Nodes: 2})
		if !r.Proven || r.States != c.classes {
			t.Errorf("%s: %s, %s, %d states; want %d", c.algorithm.Name, r.Verdict, r.Stopped, r.States, c.classes)
		}
	}
	r := livenessOf(t, queuers("queuers", 0), Options{Nodes: 2})
	if r.Verdict != Unsafe || !strings.Contains(r.Violation.Verdict, "critical section") {
		t.Errorf("%+v", r)
	}
}
