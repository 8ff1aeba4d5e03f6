package catalog_test

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
)

// numbered are algorithms whose requests carry numbers that are no clocks: those of each
// node's own requests, or of a range that is used again.
var numbered = []string{"ricart-agrawala-token", "suzuki-kasami", "ricart-agrawala-bounded"}

// Lamport's rules for clocks, IR1 and IR2: the time stamp of a request is larger than that
// of every message which its node has received, of whatever kind. Mutual exclusion and
// the end of every wait survive a node that overlooks the clocks of REPLYs, so no search
// for their violation tells.
func TestStampsFollowWhatWasReceived(t *testing.T) {
	const nodes = 4
	stamped := 0
	for _, a := range catalog.All() {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.CheckNodes(nodes, opt) != nil || a.AsPublished || slices.Contains(numbered, a.Name) {
			continue
		}
		seen := 0
		for seed := range uint64(20) {
			var latest [nodes + 1]uint64 // what each node has received
			w := conformance.Walk{Algorithm: a, Nodes: nodes, Requests: conformance.Each(4), Load: vnet.Churn, Seed: seed}
			w.Look = func(_ *conformance.Net, e *vnet.Event) error {
				for _, x := range e.Effects {
					if e.Kind == vnet.Ask && x.Kind != dme.EffectEnter && x.Msg.Clock > 0 && a.KindName(x.Msg.Kind) == "REQUEST" {
						if seen++; x.Msg.Clock <= latest[e.Node] {
							return fmt.Errorf("node %d asks with clock %d, and has received %d", e.Node, x.Msg.Clock, latest[e.Node])
						}
					}
				}
				latest[e.Node] = max(latest[e.Node], e.Msg.Clock)
				for _, x := range e.Effects {
					if x.Kind == dme.EffectSend || x.Kind == dme.EffectBroadcast {
						latest[e.Node] = max(latest[e.Node], x.Msg.Clock)
					}
				}
				return nil
			}
			if _, err := w.Run(); err != nil {
				t.Errorf("%s, seed %d: %v", a.Name, seed, err)
				break
			}
		}
		if seen > 0 {
			stamped++
		}
	}
	if stamped < 8 {
		t.Errorf("%d algorithms have stamps", stamped)
	}
}

// calculating are algorithms that share the variables of one with clocks, and do more with
// them than compare: they count modulo a number, or from a priority.
var calculating = []string{"ricart-agrawala-bounded", "ricart-agrawala-bounded-as-published", "ricart-agrawala-priority"}

// An algorithm whose nodes show clocks says where messages carry them: else no search of
// what it does for ever comes to an end.
func TestWhoHasClocks(t *testing.T) {
	have := 0
	for _, a := range catalog.All() {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		nodes := 4
		if a.CheckNodes(nodes, opt) != nil {
			nodes = 3
		}
		shown := false
		w := conformance.Walk{Algorithm: a, Nodes: nodes, Requests: conformance.Each(2), Load: vnet.Saturation, Most: 60}
		w.Look = func(n *conformance.Net, _ *vnet.Event) error {
			for id := dme.NodeID(1); int(id) <= nodes; id++ {
				dme.VisitClocks(n.Host(id).Node(), func(dme.ClockVariable) { shown = true })
			}
			return nil
		}
		if _, err := w.Run(); err != nil && !a.AsPublished {
			t.Fatal(err)
		}
		if shown && (a.Clocks == nil) != slices.Contains(calculating, a.Name) {
			t.Errorf("%s shows clocks; it says where messages carry them: %v", a.Name, a.Clocks != nil)
		}
		if shown {
			have++
		}
	}
	if have < 8 {
		t.Errorf("only %d algorithms show clocks", have)
	}
}
