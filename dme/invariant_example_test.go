package dme_test

import (
	"fmt"

	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/conformance"
)

// An invariant beside an algorithm is checked in every state that a search meets. This
// one is false: it says that nobody waits while another node is inside.
func ExampleInvariant() {
	a := suzukikasami.Algorithm()
	a.Invariants = append(a.Invariants, dme.Invariant{
		Name: "nobody waits", Citation: "wishful thinking", Statement: "nobody waits while another node is inside",
		Pair: func(v dme.GlobalView, i, j dme.NodeID, _, _ dme.Node) error {
			if v.Activity(i) == dme.Inside && v.Activity(j) == dme.Requesting {
				return dme.Broken([]dme.NodeID{i, j}, "node %d is inside, and node %d waits", i, j)
			}
			return nil
		},
	})
	net, err := conformance.New(a, 3, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	net.Request(1)
	net.Request(2)
	fmt.Println(net.Broken())
	// Output: nobody waits: node 1 is inside, and node 2 waits
}
