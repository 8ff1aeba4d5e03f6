package maekawa

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// TestStateRoundTrip interrupts random runs, loads the state of each node into
// a new one and lets both handle what is in flight: they must agree.
func TestStateRoundTrip(t *testing.T) {
	for _, s := range setups() {
		sys := s.prepare()
		for seed := range uint64(20) {
			w := walk(sys, seed, seed%2 == 0, 2)
			w.Most = 5 + int(seed)*3
			net, err := w.Run()
			if err != nil {
				t.Fatal(err)
			}
			var out dme.Outbox
			for _, f := range net.Flying() {
				from, to := f.From, f.To
				original, twin := net.Host(to).Node(), sys.Node(to)
				mustLoad(t, dme.SaveState(nil, original), twin)
				if a, b := dme.DescribeState(original), dme.DescribeState(twin); a != b {
					t.Fatalf("%v, seed %d: node %d\n%s\nwas loaded as\n%s", s, seed, to, a, b)
				}
				sent := net.Sent()
				twin.Receive(from, net.InFlight(from, to)[0], &out)
				net.Deliver(from, to, 0)
				if !bytes.Equal(dme.SaveState(nil, original), dme.SaveState(nil, twin)) {
					t.Fatalf("%v, seed %d: node %d\n%s\nand its twin\n%s\ndisagree", s, seed, to,
						dme.DescribeState(original), dme.DescribeState(twin))
				}
				for _, e := range out.Effects() {
					if e.Kind == dme.EffectSend {
						sent++
					}
				}
				out.Reset()
				if sent != net.Sent() {
					t.Fatalf("%v, seed %d: node %d and its twin send different messages", s, seed, to)
				}
				if n := original.(*node); !slices.IsSortedFunc(n.waiting, inPrecedence) || n.QueueLength() != len(n.waiting) {
					t.Fatalf("%v, seed %d: node %d waits in the order %v", s, seed, to, n.waiting)
				}
			}
		}
	}
}

// inPrecedence orders requests as slices.Sort wants it.
func inPrecedence(a, b dme.Stamp) int {
	if a.Precedes(b) {
		return -1
	}
	return 1
}

func mustLoad(t *testing.T, state []byte, n dme.Node) {
	t.Helper()
	if rest, err := dme.LoadState(state, n); err != nil || len(rest) > 0 {
		t.Fatalf("load: %v, %d bytes left", err, len(rest))
	}
	if again := dme.SaveState(nil, n); !bytes.Equal(again, state) {
		t.Fatalf("saved %x, loaded and saved again %x", state, again)
	}
}

func TestStateNamesTheVariables(t *testing.T) {
	n := listed(figure1c, map[string]string{"grants": "numbered"}).Node(7)
	var out dme.Outbox
	n.Request(&out)
	n.Receive(5, dme.Message{Kind: kindRequest, Clock: 9}, &out)
	n.Receive(12, dme.Message{Kind: kindRequest, Clock: 4}, &out)
	want := "clock=9 request=(1,7) inside=false locked={7} failed={} inquired={} grants=[0 1 0 0] " +
		"locking=(1,7) waiting=[(4,12) (9,5)] inquiring=false grant=1"
	if got := dme.DescribeState(n); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestImpossibleMessagesAreRefused throws random messages at the nodes of a
// running system: none may panic, and one that is refused changes nothing.
func TestImpossibleMessagesAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	small := func() uint64 { return rng.Uint64N(6) }
	refused, accepted := 0, 0
	for _, s := range setups() {
		sys := s.prepare()
		for seed := range uint64(20) {
			w := walk(sys, seed, true, 3)
			w.Most = 10 + int(seed)*4
			net, err := w.Run()
			if err != nil {
				t.Fatal(err)
			}
			for range 200 {
				id := dme.NodeID(1 + rng.IntN(s.nodes))
				n := net.Host(id).Node()
				m := dme.Message{
					Kind: dme.Kind(small() + 1), Clock: small(), Num: small(),
					Req: dme.Stamp{Clock: small(), Node: dme.NodeID(small())},
				}
				if rng.IntN(20) == 0 {
					m.Clock = rng.Uint64()
				}
				before := dme.SaveState(nil, n)
				var out dme.Outbox
				n.Receive(dme.NodeID(rng.IntN(s.nodes+2)), m, &out)
				if e := out.Effects(); len(e) != 1 || e[0].Kind != dme.EffectRefuse {
					accepted++
					continue
				}
				refused++
				if !bytes.Equal(before, dme.SaveState(nil, n)) {
					t.Fatalf("%v: a refused %+v changed node %d", s, m, id)
				}
			}
		}
	}
	if refused < 1000 || accepted < 1000 {
		t.Errorf("%d refused, %d accepted: nothing was tried", refused, accepted)
	}
}

func TestRefusals(t *testing.T) {
	var out dme.Outbox
	for _, x := range []struct {
		grants string
		from   dme.NodeID
		m      dme.Message
		reason string
	}{
		{"plain", 5, dme.Message{Kind: kindRequest}, "clock"},
		{"plain", 5, dme.Message{Kind: kindRequest, Clock: 1 << 63}, "clock"},
		{"plain", 5, dme.Message{Kind: 9, Clock: 1}, "kind"},
		{"plain", 13, dme.Message{Kind: kindWithdraw, Clock: 3}, "no request"},
		{"plain", 12, dme.Message{Kind: kindReclaim, Req: dme.Stamp{Clock: 1, Node: 12}}, "not lost"},
		{"plain", 12, dme.Message{Kind: kindReclaim, Req: dme.Stamp{Clock: 1, Node: 9}}, "no such request"},
		{"plain", 1, dme.Message{Kind: kindRequest, Clock: 3}, "must not ask"},
		{"plain", 9, dme.Message{Kind: kindRequest, Clock: 3}, "waits already"},
		{"plain", 12, dme.Message{Kind: kindRequest, Clock: 3}, "holds the lock"},
		{"numbered", 12, dme.Message{Kind: kindRequest, Clock: 1}, "holds the lock"},
		{"plain", 3, dme.Message{Kind: kindLocked, Clock: 3}, "was not asked"},
		{"plain", 2, dme.Message{Kind: kindLocked, Clock: 3}, "without a request"},
		{"plain", 2, dme.Message{Kind: kindFailed, Clock: 3}, "without a request"},
		{"numbered", 2, dme.Message{Kind: kindInquire, Clock: 3, Num: 2}, "does not exist"},
		{"plain", 12, dme.Message{Kind: kindRelinquish, Clock: 3}, "not inquired"},
		{"plain", 9, dme.Message{Kind: kindRelease, Clock: 3}, "not held"},
		{"numbered", 12, dme.Message{Kind: kindRelease, Clock: 3}, "not held"},
	} {
		// Node 7 of Figure 1(c), locked for node 12, with node 9 waiting.
		n := listed(figure1c, map[string]string{"grants": x.grants}).Node(7)
		n.Receive(12, dme.Message{Kind: kindRequest, Clock: 1}, &out)
		n.Receive(9, dme.Message{Kind: kindRequest, Clock: 2}, &out)
		out.Reset()
		n.Receive(x.from, x.m, &out)
		e := out.Effects()
		if len(e) != 1 || e[0].Kind != dme.EffectRefuse || !strings.Contains(e[0].Reason, x.reason) {
			t.Errorf("%s: %+v of node %d: want a refusal that says %q, got %+v", x.grants, x.m, x.from, x.reason, e)
		}
		out.Reset()
	}
}

// TestMemory: a node of a system of about a million takes memory that grows with
// K ≈ √N, not with N: two lists of K nodes, sets of K bits each, and with numbered
// grants K numbers.
func TestMemory(t *testing.T) {
	const nodes = 997*997 + 997 + 1 // a plane
	for _, x := range []struct {
		a   *dme.Algorithm
		set map[string]string
	}{{Algorithm(), nil}, {Algorithm(), map[string]string{"grants": "numbered"}}, {AsPublished(), nil}, {TextbookAsPublished(), nil}} {
		sys, err := x.a.New(nodes, 1, x.set)
		if err != nil {
			t.Fatal(err)
		}
		const k = 998
		if got := len(x.a.RequestSet(sys, nodes)); got != k {
			t.Fatalf("K = %d, want %d", got, k)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := sys.Node(nodes)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 24*k {
			t.Errorf("%s, %v: a node of %d takes %d bytes, more than 24K", x.a.Name, x.set, nodes, bytes)
		}
		var out dme.Outbox
		n.Request(&out)
		if got := len(out.Effects()); got != k-1 {
			t.Errorf("%s: %d REQUESTs, want %d", x.a.Name, got, k-1)
		}
	}
}
