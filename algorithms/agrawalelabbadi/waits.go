package agrawalelabbadi

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

// Waits tells what a node waits for: as a requester, the replies that it lacks; as
// a site for which others wait, that the holder of its permission gives it back;
// after a restart, what the others hold. What it waits for of itself is in its
// other part.
func (n *node) Waits() []dme.Wait {
	waits := n.waits()
	if j := n.granted.Node; j != dme.None && j != n.ID && len(n.waiting) > 0 {
		what := "Relinquish"
		if n.inquired {
			what = "Yield or Relinquish"
		}
		waits = append(waits, dme.Wait{For: j, What: what})
	}
	for _, j := range n.failures.Unheard() {
		waits = append(waits, dme.Wait{For: j, What: "Reclaim, or word that it holds no permission"})
	}
	slices.SortStableFunc(waits, byPeer)
	return waits
}

// Waits tells the same of the printed protocol, where the head of the queue holds
// the permission.
func (n *publishedNode) Waits() []dme.Wait {
	waits := n.waits()
	if len(n.queue) > 1 && n.queue[0].Node != n.ID {
		waits = append(waits, dme.Wait{For: n.queue[0].Node, What: "Relinquish"})
	}
	slices.SortStableFunc(waits, byPeer)
	return waits
}

// waits returns the replies that the requester lacks.
func (n *requester) waits() (waits []dme.Wait) {
	if !n.pending() {
		return nil
	}
	for k, j := range n.Members {
		if j != n.ID && !n.replied.Has(k) {
			waits = append(waits, dme.Wait{For: j, What: "Reply"})
		}
	}
	return waits
}

func byPeer(a, b dme.Wait) int { return cmp.Compare(a.For, b.For) }
