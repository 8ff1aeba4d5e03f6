package raymond

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
)

func told(t *testing.T, nodes int, tree string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{optTree: tree, optInit: "messages"})
}

func holderOf(net *conformance.Net, id dme.NodeID) dme.NodeID {
	return net.Host(id).Node().(*initialized).holder
}

// INITIALIZE goes once over each edge, and every HOLDER is then what it is computed to be.
func TestInitialize(t *testing.T) {
	for _, tree := range shapes {
		for _, nodes := range []int{1, 2, 3, 7, 20} {
			net := told(t, nodes, tree)
			net.Settle()
			if got := net.SentOf(kindInitialize); got != uint64(nodes-1) || net.Sent() != got || net.Refused() != 0 {
				t.Errorf("%s of %d: %d INITIALIZE of %d messages, %d refused", tree, nodes, got, net.Sent(), net.Refused())
			}
			computed := newNet(t, nodes, tree)
			for id := dme.NodeID(1); int(id) <= nodes; id++ {
				if got, want := holderOf(net, id), at(computed, id).holder; got != want {
					t.Errorf("%s of %d: HOLDER of node %d is %d, want %d", tree, nodes, id, got, want)
				}
			}
		}
	}
}

// 'Once INITIALIZE message is received, a node can start making privilege requests even
// if the entire tree is not initialized.' A node that has not received it keeps its
// request until then.
func TestRequestsBeforeInitialize(t *testing.T) {
	net := told(t, 4, "line")
	net.Request(4)
	net.Request(3)
	net.Request(2)
	if net.Sent() != 1 {
		t.Fatalf("%d messages before INITIALIZE has arrived anywhere, want that of node 1", net.Sent())
	}
	net.Deliver(1, 2, 0)
	// Node 2 passes the word on, and asks; nodes 3 and 4 know nothing yet.
	if got := net.InFlight(2, 1); len(got) != 1 || got[0].Kind != kindRequest || holderOf(net, 3) != dme.None {
		t.Fatalf("node 2 sends %+v, HOLDER of node 3 is %v", got, holderOf(net, 3))
	}
	net.Deliver(2, 1, 0)
	net.Deliver(1, 2, 0)
	net.WantInside(t, 2)
	if w := net.Host(4).Node().(*initialized).Waits(); !slices.Equal(w, []dme.Wait{{For: 3, What: "INITIALIZE"}}) {
		t.Errorf("node 4 waits for %v", w)
	}
	net.Settle()
	for _, id := range []dme.NodeID{2, 3, 4} {
		net.WantInside(t, id)
		net.Release(id)
		net.Settle()
	}
	if err := net.Err(); err != nil || net.Refused() != 0 {
		t.Errorf("%v, %d refused", err, net.Refused())
	}
}

// What no correct neighbour sends is refused, and changes nothing.
func TestInitializeRefusals(t *testing.T) {
	begin := func() *conformance.Net { return told(t, 7, "binary") }
	settled := func() *conformance.Net {
		net := begin()
		net.Settle()
		return net
	}
	for from, series := range map[dme.NodeID]map[string][]dme.Message{
		1: {"REQUEST before INITIALIZE": {{Kind: kindRequest}}, "PRIVILEGE before INITIALIZE": {{Kind: kindPrivilege}}},
		4: {"INITIALIZE from below": {{Kind: kindInitialize}}, "REQUEST before INITIALIZE": {{Kind: kindRequest}}},
		7: {"stranger": {{Kind: kindInitialize}}},
	} {
		conformance.TestRefusals(t, from, 2, begin, series)
	}
	conformance.TestRefusals(t, 1, 2, settled, map[string][]dme.Message{"second INITIALIZE": {{Kind: kindInitialize}}})
	conformance.TestRefusals(t, 2, 1, settled, map[string][]dme.Message{"INITIALIZE to node 1": {{Kind: kindInitialize}}})
}

// Every schedule of small trees, on links that keep no order: requests come before
// INITIALIZE, while it spreads, and after it.
func TestInitializeExhaustively(t *testing.T) {
	for _, x := range []struct {
		tree            string
		nodes, requests int
	}{{"line", 2, 6}, {"line", 3, 5}, {"star", 3, 5}, {"star", 4, 4}, {"binary", 4, 4}, {"line", 4, 4}} {
		r, err := check.Exhaustive(t.Context(), Algorithm(), check.Options{
			Nodes: x.nodes, Requests: x.requests, Unordered: true, Set: map[string]string{optTree: x.tree, optInit: "messages"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil || !r.Complete || r.States < 100 {
			t.Errorf("%+v: %+v", x, r)
		}
	}
}

// TestInitializeMutantsAreCaught shows that each rule of the beginning is needed.
func TestInitializeMutantsAreCaught(t *testing.T) {
	if !testkit.Full() {
		t.Skip("builds the package once for each mutant; with DMEBENCH_TESTS=full")
	}
	mutants := []conformance.Mutant{
		{
			Name: "as printed, INITIALIZE to all neighbours and from any", File: "initialize.go",
			Old: "\t\tif id != holder {\n",
			New: "\t\tif id != n.self {\n",
			More: [][2]string{
				{"known || from != n.tree.parent[n.self]:", "n.using:"},
				{"\tn.holder = holder\n", "\tagain := n.holder != dme.None\n\tn.holder = holder\n\tif again {\n\t\treturn\n\t}\n"},
			},
			Caught: "stalled: node",
		},
		{
			Name: "what waited is not asked for", File: "initialize.go",
			Old:    "\tn.assignPrivilege(out)\n\tn.makeRequest(out)\n",
			New:    "",
			Caught: "stalled: node",
		},
		{
			Name: "the word is not passed on", File: "initialize.go",
			Old:    "\t\tif id != holder {\n",
			New:    "\t\tif id != holder && n.self == root {\n",
			Caught: "stalled: node",
		},
		{
			Name: "who is not initialized asks", File: "raymond.go",
			Old:    " || n.holder == dme.None || n.requestQ.Empty() || n.asked {",
			New:    " || n.requestQ.Empty() || n.asked {",
			Caught: "panic",
		},
	}
	conformance.TestMutants(t, "^TestInitializeExhaustively$", mutants...)
}

// What is claimed of INITIALIZE is measured on nodes of either form, and not on nodes
// that are told by nobody; a claim about all messages of a run is made of these alone.
func TestInitializeClaims(t *testing.T) {
	measured := func(a *dme.Algorithm, nodes int, init string) (claims int) {
		t.Helper()
		set := map[string]string{}
		if init != "" {
			set[optInit] = init
		}
		setting := conformance.Make(t, a, nodes, set).Setting
		for _, c := range a.Claims {
			value, ok := c.Prediction(setting)
			if c.Quantity == dme.MessagesPerCS && ok {
				claims++
			}
			if c.Quantity != InitializeMessages {
				continue
			}
			got, told := c.Measure(setting)
			if c.Set[optInit] != "messages" && init != "" {
				t.Errorf("%s: the claim is made under %v", a.Name, c.Set)
			}
			if ok != (init != "computed") || told != ok || told && (value != float64(nodes-1) || got != value) {
				t.Errorf("%s, init=%s, %d nodes: claimed %v, %v, measured %v, %v", a.Name, init, nodes, value, ok, got, told)
			}
		}
		return claims
	}
	for _, nodes := range []int{1, 2, 7, 12} {
		measured(Robust(), nodes, "")
		if n := measured(Algorithm(), nodes, "messages"); n != 0 {
			t.Errorf("%d claims about all messages count INITIALIZE", n)
		}
		if n := measured(Algorithm(), nodes, "computed"); nodes > 2 && n == 0 {
			t.Error("no claims about all messages")
		}
	}
	// A beginning that does not reach everybody is not measured.
	setting := conformance.Make(t, Algorithm(), 3, map[string]string{optInit: "messages"}).Setting
	setting.System.(*system).tree.near[1] = []dme.NodeID{2}
	if got, ok := initializeMessages(setting); ok {
		t.Errorf("node 3 is told by nobody, and %v is measured", got)
	}
}

// A node waits for INITIALIZE only while it wants something, and then for PRIVILEGE.
func TestInitializedWaits(t *testing.T) {
	net := told(t, 2, "line")
	waits := func() []dme.Wait { return net.Host(2).Node().(*initialized).Waits() }
	if w := waits(); w != nil {
		t.Errorf("without a request: %v", w)
	}
	net.Request(1)
	net.Request(2)
	net.Settle()
	if w := waits(); !slices.Equal(w, []dme.Wait{{For: 1, What: "PRIVILEGE"}}) {
		t.Errorf("behind node 1: %v", w)
	}
	net.Release(1)
	net.Settle()
	if w := waits(); w != nil {
		t.Errorf("inside: %v", w)
	}
}
