package check

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// A fair schedule owes exits and arrivals, and a step does the one that it is: the link
// from node f to node t is number (f−1)·N+t−1.
func TestStepsDoDuties(t *testing.T) {
	const n = LivenessMost
	g := newGraph(searchOf(t, silence(), Options{Nodes: n, Unlimited: true}))
	var links []int
	for i := range n * n {
		links = append(links, i)
	}
	steps := []vnet.Step{{Kind: vnet.Ask, Node: n}, {Kind: vnet.AskShared, Node: 1}, {Kind: vnet.Fire, Node: 2, Timer: 1}}
	for id := dme.NodeID(1); id <= n; id++ {
		steps = append(steps, vnet.Step{Kind: vnet.Leave, Node: id})
		for to := dme.NodeID(1); to <= n; to++ {
			if id != to {
				steps = append(steps, vnet.Step{Kind: vnet.Deliver, From: id, Node: to})
			}
		}
	}
	for _, x := range steps {
		d := duties{nodes: 1<<n - 1, links: slices.Clone(links)}
		d.do(g, 0, &edge{label: g.labelOf(x)})
		wantNodes, wantLinks := uint32(1<<n-1), slices.Clone(links)
		switch x.Kind {
		case vnet.Leave:
			wantNodes -= 1 << (x.Node - 1)
		case vnet.Deliver:
			at := int(x.From-1)*n + int(x.Node-1)
			wantLinks = slices.Delete(wantLinks, at, at+1)
		}
		if d.nodes != wantNodes || !slices.Equal(d.links, wantLinks) {
			t.Errorf("after %v exits of %b and arrivals on %d links are owed, want %b and %d", x, d.nodes, len(d.links), wantNodes, len(wantLinks))
		}
	}
}
