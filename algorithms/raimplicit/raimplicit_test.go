package raimplicit

import (
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func newNet(t *testing.T, nodes int, set map[string]string) *conformance.Net {
	t.Helper()
	net, err := conformance.New(Algorithm(), nodes, set)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// Without contention nobody says anything: N−1 messages, or one transmission.
func TestIsolatedRequests(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 8, 13} {
		for _, c := range []struct {
			broadcast     string
			transmissions int
		}{{"false", nodes - 1}, {"true", min(1, nodes-1)}} {
			net := newNet(t, nodes, map[string]string{"broadcast": c.broadcast})
			for i := range nodes {
				before := net.Transmissions()
				messages, err := net.Serve(dme.NodeID(i + 1))
				if err != nil {
					t.Fatal(err)
				}
				if sent := net.Transmissions() - before; int(messages) != nodes-1 || int(sent) != c.transmissions {
					t.Errorf("N=%d, broadcast %s: %d messages in %d transmissions, want %d in %d",
						nodes, c.broadcast, messages, sent, nodes-1, c.transmissions)
				}
			}
		}
	}
}

// If all ask at once, each pair of nodes has one deferral: 2(N−1) on average.
func TestBurst(t *testing.T) {
	const nodes = 8
	net := newNet(t, nodes, nil)
	for i := range nodes {
		net.Request(dme.NodeID(i + 1))
	}
	for i := dme.NodeID(1); i <= nodes; i++ {
		net.Elapse()
		if !slices.Equal(net.Inside(), []dme.NodeID{i}) {
			t.Fatalf("%v are in the critical section, want node %d\n%s", net.Inside(), i, net.States())
		}
		net.Release(i)
	}
	net.Elapse()
	if sent := net.Sent(); sent != nodes*2*(nodes-1) || net.Err() != nil {
		t.Errorf("%d messages for %d entries, want %d; %v", sent, nodes, nodes*2*(nodes-1), net.Err())
	}
}

// The claim of at most 2(N−1) is false where everybody always asks: each
// request is deferred by all others, at two messages for a deferral.
func TestSaturationCostsThreeMessagesPerNode(t *testing.T) {
	const nodes, warmUp, rounds = 8, 2, 10
	net := newNet(t, nodes, nil)
	for i := range nodes {
		net.Request(dme.NodeID(i + 1))
	}
	var before uint64
	for k := range (warmUp + rounds) * nodes {
		net.Elapse()
		in := net.Inside()
		if len(in) != 1 {
			t.Fatalf("%v are in the critical section\n%s", in, net.States())
		}
		if k == warmUp*nodes {
			before = net.Sent()
		}
		i := in[0]
		net.Release(i)
		net.Request(i)
	}
	net.Elapse()
	if per := float64(net.Sent()-before) / (rounds * nodes); per != 3*(nodes-1) || net.Err() != nil {
		t.Errorf("%v messages per entry, want %d; %v", per, 3*(nodes-1), net.Err())
	}
	claims := slices.DeleteFunc(Algorithm().Claims, func(c dme.Claim) bool { return c.KnownFalse == "" })
	if len(claims) != 1 || claims[0].Formula != "2(N−1)" || claims[0].Load != dme.AnyLoad {
		t.Errorf("the claim that this test refutes is not marked as false: %+v", claims)
	}
}

// A REPLY overtakes the DEFERRED that it follows.
func TestReplyBeforeItsDeferred(t *testing.T) {
	net := newNet(t, 2, nil)
	net.Request(1)
	net.Request(2)
	net.Deliver(1, 2, 0) // node 2 says nothing: node 1 wins the tie
	net.Deliver(2, 1, 0) // node 1 says DEFERRED
	net.Fire()           // the first legs of both
	net.Fire()
	net.Fire() // the second of node 1
	if !slices.Equal(net.Inside(), []dme.NodeID{1}) {
		t.Fatalf("%v are in the critical section\n%s", net.Inside(), net.States())
	}
	net.Release(1)
	net.Deliver(1, 2, 1) // the REPLY
	net.Deliver(1, 2, 0) // the DEFERRED
	if len(net.Inside()) != 0 {
		t.Error("node 2 has entered before its wait was over")
	}
	net.Fire()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Err() != nil || net.Refused() != 0 {
		t.Errorf("node 2 has been replied to and waits; %v\n%s", net.Err(), net.States())
	}
}

// A message that takes longer than the bound brings two nodes in: here the
// DEFERRED of a node that is inside.
func TestBrokenBoundIsUnsafe(t *testing.T) {
	net := newNet(t, 2, nil)
	net.Request(1)
	net.Request(2)
	net.Deliver(1, 2, 0)
	net.Deliver(2, 1, 0)
	for net.Fire() { // and the DEFERRED stays on its way
	}
	if len(net.Inside()) != 2 || net.Err() == nil {
		t.Fatalf("%v are in the critical section", net.Inside())
	}
	net.Deliver(1, 2, 0)
	if net.Refused() != 1 {
		t.Error("a DEFERRED that comes too late is not refused")
	}
}

// The wait is a round trip, in legs of the bound.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		option string
		known  time.Duration
		want   time.Duration
	}{
		{"auto", 3 * time.Millisecond, 3 * time.Millisecond},
		{"auto", 0, anyBound},
		{"50ms", 3 * time.Millisecond, 50 * time.Millisecond},
	} {
		a := Algorithm()
		opt, err := a.Resolve(map[string]string{"bound": c.option})
		if err != nil {
			t.Fatal(err)
		}
		sys, err := a.Prepare(dme.Config{Nodes: 2, Options: opt, Bound: c.known})
		if err != nil {
			t.Fatal(err)
		}
		n := sys.Node(1)
		var out dme.Outbox
		n.Request(&out)
		timers := 0
		for timer(t, &out, c.want) {
			timers++
			out.Reset()
			n.(dme.Timed).Timeout(waited, &out)
		}
		if timers != 2 || len(out.Effects()) != 1 || out.Effects()[0].Kind != dme.EffectEnter {
			t.Errorf("%+v: %d legs, then %+v", c, timers, out.Effects())
		}
		for _, claim := range a.Claims {
			if claim.Quantity != dme.ResponseTime || claim.Load != dme.Light {
				continue
			}
			got, ok := claim.Predict(dme.Setting{Nodes: 2, Options: opt, System: sys, E: time.Millisecond})
			if want := (2*c.want + time.Millisecond).Seconds(); !ok || got != want {
				t.Errorf("%+v: predicts a response of %v s, want %v", c, got, want)
			}
		}
	}
}

// timer reports whether a timer is the last effect, and checks its length.
func timer(t *testing.T, out *dme.Outbox, want time.Duration) bool {
	t.Helper()
	e := out.Effects()[len(out.Effects())-1]
	if e.Kind != dme.EffectSetTimer {
		return false
	}
	if e.Delay != want {
		t.Errorf("a leg of %v, want %v", e.Delay, want)
	}
	return true
}

func TestBounds(t *testing.T) {
	for value, ok := range map[string]bool{
		"auto": true, "1ns": true, "500ms": true, "1h": true, "61m": false, "0s": false, "-1s": false, "5": false, "": false, "soon": false,
	} {
		if _, err := Algorithm().Resolve(map[string]string{"bound": value}); (err == nil) != ok {
			t.Errorf("bound=%s: %v", value, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	message := func(kind dme.Kind, number uint64) dme.Message {
		return dme.Message{Kind: kind, Clock: number}
	}
	for _, c := range []struct {
		name string
		msgs []dme.Message // all from node 2; the last is refused
	}{
		{"REQUEST without a number", []dme.Message{message(kindRequest, 0)}},
		{"REQUEST twice", []dme.Message{message(kindRequest, 9), message(kindRequest, 9)}},
		{"DEFERRED of an earlier request", []dme.Message{message(kindDeferred, 1)}},
		{"DEFERRED twice", []dme.Message{message(kindDeferred, 2), message(kindDeferred, 2)}},
		{"REPLY of an earlier request", []dme.Message{message(kindReply, 1)}},
		{"REPLY twice, and no DEFERRED", []dme.Message{message(kindReply, 2), message(kindReply, 2)}},
	} {
		net := newNet(t, 3, nil)
		if _, err := net.Serve(1); err != nil {
			t.Fatal(err)
		}
		net.Request(1) // with number 2
		for i, m := range c.msgs {
			net.Host(1).Receive(2, &m)
			want := uint64(0)
			if i == len(c.msgs)-1 {
				want = 1
			}
			if net.Refused() != want {
				t.Errorf("%s: %d refused after message %d", c.name, net.Refused(), i+1)
			}
		}
	}
}

func TestMutants(t *testing.T) {
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{
			Name: "no bound", File: "algorithm.go",
			Old: "Reliable: true, BoundedDelay: true", New: "Reliable: true",
			Caught: "ricart-agrawala-implicit: on 2 nodes",
		},
		conformance.Mutant{
			Name: "one leg", File: "raimplicit.go",
			Old: "const legs = 2", New: "const legs = 1",
			Caught: "are in the critical section",
		},
		conformance.Mutant{
			Name: "REPLY before its DEFERRED is lost", File: "raimplicit.go",
			Old: "\t\tn.repliedFirst.Add(from) // its DEFERRED is still to come\n", New: "",
			Caught: "nothing moves",
		},
		conformance.Mutant{
			Name: "no DEFERRED", File: "raimplicit.go",
			Old: "\tout.Send(r.Node, dme.Message{Kind: kindDeferred, Clock: r.Clock})\n", New: "",
			Caught: "REPLY that is not awaited",
		},
	)
}
