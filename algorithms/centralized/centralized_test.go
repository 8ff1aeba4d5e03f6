package centralized_test

import (
	"slices"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
)

const (
	request dme.Kind = iota + 1
	grant
	release
)

func newNet(t *testing.T, nodes int) *conformance.Net {
	t.Helper()
	return conformance.Make(t, centralized.Algorithm(), nodes, nil)
}

func TestThreeMessages(t *testing.T) {
	net := newNet(t, 5)
	for round := range 3 {
		for id := dme.NodeID(1); id <= 5; id++ {
			want := uint64(3)
			if id == 1 {
				want = 0
			}
			if got, err := net.Serve(id); err != nil || got != want {
				t.Errorf("round %d, node %d: %d messages, %v; want %d", round, id, got, err, want)
			}
		}
	}
}

// The queue is served in the order in which requests arrive at node 1.
func TestFirstInFirstOut(t *testing.T) {
	net := newNet(t, 4)
	net.Request(1)
	for _, id := range []dme.NodeID{4, 2, 3} {
		net.Request(id)
		net.Deliver(id, 1, 0)
	}
	for _, id := range []dme.NodeID{1, 4, 2, 3} {
		if in := net.Inside(); len(in) != 1 || in[0] != id {
			t.Fatalf("%v are in the critical section, want node %d", in, id)
		}
		net.Release(id)
		net.Settle()
	}
}

// A node leaves and asks again, and its REQUEST overtakes its RELEASE.
func TestRequestOvertakesRelease(t *testing.T) {
	net := newNet(t, 3)
	net.Request(2)
	net.Settle()
	net.Release(2)
	net.Request(2)
	net.Deliver(2, 1, 1) // the REQUEST
	if got := net.InFlight(1, 2); len(got) != 0 {
		t.Fatalf("node 1 answers %v before the RELEASE", got)
	}
	net.Request(3)
	net.Deliver(3, 1, 0)
	net.Deliver(2, 1, 0) // the RELEASE
	net.Settle()
	if in := net.Inside(); len(in) != 1 || in[0] != 2 {
		t.Fatalf("%v are in the critical section, want node 2", in)
	}
	net.Release(2)
	net.Settle()
	if in := net.Inside(); len(in) != 1 || in[0] != 3 || net.Refused() != 0 {
		t.Fatalf("%v are in the critical section, want node 3", in)
	}
}

// All wait for node 1, and node 1 for who has the resource.
func TestWhoIsWaitedFor(t *testing.T) {
	net := newNet(t, 3)
	waits := func(want ...[]dme.Wait) {
		t.Helper()
		for i, want := range want {
			if got := net.Algorithm.Waits(net.Host(dme.NodeID(i + 1)).Node()); !slices.Equal(got, want) {
				t.Errorf("node %d waits for %v, want %v", i+1, got, want)
			}
		}
	}
	grant, release := []dme.Wait{{For: 1, What: "GRANT"}}, []dme.Wait{{For: 3, What: "RELEASE"}}
	waits(nil, nil, nil)
	net.Request(3)
	waits(nil, nil, grant)
	net.Settle()
	net.Request(2)
	net.Settle()
	waits(release, grant, nil)
	net.Release(3)
	net.Settle()
	net.Request(1)
	waits([]dme.Wait{{For: 2, What: "RELEASE"}}, nil, nil)
	net.Release(2)
	net.Settle()
	waits(nil, nil, nil)
}

func TestRefusals(t *testing.T) {
	refuses := conformance.Refusing(t, func() *conformance.Net {
		net := newNet(t, 4)
		net.Request(2)
		net.Settle()
		net.Request(3)
		net.Deliver(3, 1, 0)
		return net
	})
	refuses("GRANT without a request", 1, 4, dme.Message{Kind: grant})
	refuses("GRANT from a node without the resource", 3, 2, dme.Message{Kind: grant})
	refuses("REQUEST to a node without the resource", 3, 2, dme.Message{Kind: request})
	refuses("GRANT to the node with the resource", 2, 1, dme.Message{Kind: grant})
	refuses("RELEASE of what another node has", 3, 1, dme.Message{Kind: release})
	refuses("second REQUEST", 3, 1, dme.Message{Kind: request})
}

// Every schedule of a few requests, on links that need not keep order, keeps all of the
// rules and ends with every request served.
func TestEverySchedule(t *testing.T) {
	for _, c := range []struct {
		nodes, requests int
	}{
		{1, 3},
		{2, 6},
		{3, 6},
		{4, 5},
	} {
		r, err := check.Exhaustive(t.Context(), centralized.Algorithm(), check.Options{
			Nodes: c.nodes, Requests: c.requests, Unordered: true,
		})
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Nor does any of some random schedules of larger systems break a rule, or starve a node.
func TestRandomSchedules(t *testing.T) {
	for _, nodes := range []int{2, 5, 9} {
		o := check.Defaults(centralized.Algorithm(), nodes, nil)
		o.Schedules = 300
		r, err := check.Random(t.Context(), centralized.Algorithm(), o)
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("%d nodes: %v", nodes, err)
		}
	}
}

// Each mutant is the algorithm with one of its rules taken out.
func TestSearchMutants(t *testing.T) {
	if !testkit.Full() {
		t.Skip("needs DMEBENCH_TESTS=full")
	}
	conformance.TestMutants(t, "^Test(EverySchedule|RandomSchedules)$",
		conformance.Mutant{
			Name: "granted while another has the resource", File: "centralized.go",
			Old: "if s.holder != dme.None || s.queue.Empty() {", New: "if s.queue.Empty() {", Caught: conformance.Unsafe,
		},
		conformance.Mutant{
			Name: "a RELEASE grants nothing", File: "centralized.go",
			Old: "\t\ts.holder = dme.None\n\t\ts.grant(out)\n", New: "\t\ts.holder = dme.None\n", Caught: "stalled: ",
		},
		conformance.Mutant{
			Name: "who was granted counts as waiting", File: "centralized.go",
			Old: "\ts.queued.Remove(s.holder)\n", New: "", Caught: "stalled: ",
		},
	)
}
