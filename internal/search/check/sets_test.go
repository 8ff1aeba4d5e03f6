package check

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

// A set of states takes 21 to 43 bytes for each, and has them on its account, once it has
// got beyond its first room.
func TestRoomOfVisited(t *testing.T) {
	var memory account
	v := newVisited(1, &memory)
	rng := rand.New(rand.NewPCG(1, 15))
	s := &v.shards[0]
	for n := 1; n <= 5000; n++ {
		isNew := []bool{false}
		if s.add([]vnet.Hash{{A: rng.Uint64(), B: rng.Uint64()}}, []int32{0}, isNew); !isNew[0] || s.used != n {
			t.Fatalf("state %d: new %v, %d are there", n, isNew, s.used)
		}
		bytes := float64(slotBytes * len(s.slots))
		if held := memory.held.Load(); held != int64(bytes) || n > 48 && (bytes < 21*float64(n) || bytes > 43*float64(n)) {
			t.Fatalf("%d states take %v bytes, and %d are on the account", n, bytes, held)
		}
	}
	// Many at a time have room together before any of them is added.
	many := make([]vnet.Hash, 700)
	which, isNew := make([]int32, len(many)), make([]bool, len(many))
	for i := range many {
		many[i], which[i] = vnet.Hash{A: rng.Uint64(), B: rng.Uint64()}, int32(i)
	}
	v = newVisited(1, new(account))
	if s = &v.shards[0]; len(v.shards) != 1 {
		t.Errorf("%d shards for one goroutine", len(v.shards))
	}
	s.add(many, which, isNew)
	if s.used != 700 || len(s.slots) != 1024 {
		t.Errorf("%d of 700 states in %d places, want 1024", s.used, len(s.slots))
	}
}

// Where the memory is spent nothing is added, and what is there stays.
func TestVisitedWithoutMemory(t *testing.T) {
	memory := account{limit: 64 * slotBytes}
	v := newVisited(1, &memory)
	s, rng := &v.shards[0], rand.New(rand.NewPCG(1, 16))
	var all []vnet.Hash
	added := 0
	for range 100 {
		h, isNew := vnet.Hash{A: rng.Uint64(), B: rng.Uint64()}, []bool{false}
		s.add([]vnet.Hash{h}, []int32{0}, isNew)
		if isNew[0] {
			added++
			all = append(all, h)
		}
	}
	if added != 48 || !memory.spent.Load() || memory.held.Load() != 64*slotBytes || len(s.slots) != 64 {
		t.Errorf("%d states in %d places with %d bytes, spent %v", added, len(s.slots), memory.held.Load(), memory.spent.Load())
	}
	for _, h := range all {
		found := false
		for _, slot := range s.slots {
			found = found || slot == h
		}
		if !found {
			t.Errorf("%v is gone", h)
		}
	}
}

// Of several goroutines states are spread evenly over the shards, by their hashes alone.
func TestShards(t *testing.T) {
	v := newVisited(2, new(account))
	if len(v.shards) != manyShards {
		t.Fatalf("%d shards", len(v.shards))
	}
	count := make([]int, len(v.shards))
	for i := range 64 * manyShards {
		count[v.shardOf(vnet.Hash{A: uint64(i) << (64 - 11)})]++
	}
	for i, n := range count {
		if n != 64 {
			t.Errorf("shard %d has %d of %d", i, n, 64*manyShards)
		}
	}
}

// Which part of the bits are set is counted, and a state is new until its bits are.
func TestBitsOfStates(t *testing.T) {
	for size, words := range map[Bytes]int{1: 1, 7: 1, 8: 1, 15: 1, 16: 2, 4096: 512} {
		if b := newBitset(size); len(b.words) != words {
			t.Errorf("%d bytes are %d words", size, len(b.words))
		}
	}
	b := newBitset(64)
	if b.filled() != 0 || b.omission() != 0 {
		t.Errorf("of no states %v are filled", b.filled())
	}
	rng := rand.New(rand.NewPCG(1, 17))
	var last float64
	for n := range 4000 {
		h := vnet.Hash{A: rng.Uint64(), B: rng.Uint64()}
		isNew := b.add(h)
		set := 0
		for i := range b.words {
			set += bits.OnesCount64(b.words[i].Load())
		}
		filled := float64(set) / 512
		if b.filled() != filled || math.Abs(b.omission()-filled*filled*filled) > 1e-12 {
			t.Fatalf("%d bits of 512 are set, and %v are filled; a state is left out with %v", set, b.filled(), b.omission())
		}
		if isNew != (filled > last) || b.add(h) || n == 0 && set != 3 {
			t.Fatalf("state %d: new %v, with %v filled before, and %v now", n, isNew, last, filled)
		}
		last = filled
	}
	if last != 1 {
		t.Errorf("of many states %v are filled", last)
	}
}

// What is held is limited as soon as it is more than may be; to give back always may.
func TestAccounts(t *testing.T) {
	for _, x := range []struct {
		limit Bytes
		holds []int
		may   []bool
		spent bool
	}{
		{100, []int{60, 40}, []bool{true, true}, false}, {100, []int{60, 41}, []bool{true, false}, true},
		{100, []int{101, -1, 0, 1}, []bool{false, true, true, false}, true}, {0, []int{1 << 40, 1 << 40}, []bool{true, true}, false},
	} {
		a := account{limit: x.limit}
		for i, n := range x.holds {
			if may := a.hold(n); may != x.may[i] {
				t.Errorf("of %d bytes %v are held: %d may be: %v", x.limit, x.holds[:i], n, may)
			}
		}
		if a.spent.Load() != x.spent {
			t.Errorf("of %d bytes %v are held: spent %v", x.limit, x.holds, a.spent.Load())
		}
	}
}

// A search with reduction comes to the same verdict as one without: of every
// algorithm, of every literal text that is known to be wrong, and of the toys that
// break each property.
func TestReductionAndItsTwin(t *testing.T) {
	compared := map[string]bool{}
	same := func(t *testing.T, a *dme.Algorithm, o Options) {
		o.WithoutInvariants = true
		s, err := New(a, o)
		if err != nil {
			t.Fatal(err)
		}
		with := s.reduced(t.Context())
		if with == nil {
			if s.WhyNotReduced() == "" {
				t.Errorf("%s %+v: is not reduced, and nobody knows why", a.Name, o)
			}
			return
		}
		compared[a.Name] = true
		without := s.unreduced(t.Context(), s.States)
		if without.found == nil && without.halt.Load() {
			return // too many states for a comparison
		}
		if x, y := verdict(with), verdict(without); x != y {
			t.Errorf("%s %+v: with reduction %s, without %s", a.Name, o, x, y)
		}
		if x, y := with.count.Load(), without.count.Load(); x > y && without.found == nil {
			t.Errorf("%s %+v: %d states with reduction, %d without", a.Name, o, x, y)
		}
		if with.found != nil {
			if _, err := with.trace(); err != nil {
				t.Errorf("%s %+v: %v", a.Name, o, err)
			}
		}
	}
	budgets, states := [][2]int{{2, 3}, {3, 2}}, uint64(5_000)
	if testkit.Full() {
		budgets, states = [][2]int{{2, 6}, {3, 4}, {3, 6}, {4, 3}, {4, 4}, {5, 3}}, 5_000_000
	}
	for _, a := range catalog.All() {
		t.Run(a.Name, func(t *testing.T) {
			settings := []map[string]string{nil}
			if testkit.Full() {
				settings = conformance.Settings(a)
			}
			for _, set := range settings {
				opt, err := a.Resolve(set)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range budgets {
					if a.CheckNodes(b[0], opt) != nil {
						continue
					}
					for _, unordered := range []bool{false, true} {
						same(t, a, Options{Nodes: b[0], Requests: b[1], Set: set, Unordered: unordered, States: states})
					}
				}
			}
		})
	}
	for _, a := range []*dme.Algorithm{
		anarchy(), silence(), uninvited(), explosive(), favouritism(), library(), nonAtomic(), earlyBird(),
		chatter(), restlessToy(), implicit(1), metronome(), phoenix(), queuers("queuers", 0),
	} {
		t.Run(a.Name, func(t *testing.T) {
			for n := 2; n <= 3; n++ {
				requests := n
				if a.Name == "uninvited" {
					requests = 1 // with more it breaks two properties
				}
				same(t, a, Options{Nodes: n, Requests: requests, States: states})
			}
		})
	}
	if len(compared) < 25 {
		t.Errorf("only %d algorithms have been searched with reduction", len(compared))
	}
}

// verdict says which property is broken; where none is, whether all has been
// searched, and whether messages were refused.
func verdict(x *exhaustive) string {
	if x.found != nil {
		return string(x.found.Property)
	}
	return fmt.Sprintf("none is broken, complete %v, some refused %v", !x.halt.Load(), x.refused > 0)
}

// hasty: node 1 enters at once, and tells the others. Node 3 warns node 2, which sets a
// timer then. If that fires before node 2 has heard from node 1, it enters, too.
func hasty() *dme.Algorithm {
	const told, warning = 1, 2
	return scripted("hasty", script{
		request: func(s *script, out *dme.Outbox) {
			out.Broadcast(dme.Message{Kind: told})
			out.Enter(dme.Stamp{})
		},
		receive: func(s *script, _ dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch {
			case m.Kind == warning:
				out.SetTimer(1, time.Second)
			case s.id == 3:
				out.Send(2, dme.Message{Kind: warning})
			default:
				s.x = 1
			}
		},
		timeout: func(s *script, _ dme.TimerID, out *dme.Outbox) {
			if s.x == 0 {
				out.Enter(dme.Stamp{})
			}
		},
	}, "TOLD", "WARNING")
}

// A message that sets a timer does not commute with one that what the timer does
// depends on.
func TestReductionLooksAtTimers(t *testing.T) {
	s, err := New(hasty(), Options{Nodes: 3, Requests: 1, Requesters: []dme.NodeID{1}, Reduce: true})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.reduced(t.Context()); x == nil || x.found == nil {
		t.Error("the timer that fires too early is not found")
	}
}
