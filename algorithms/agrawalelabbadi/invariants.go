package agrawalelabbadi

import "dmebench/dme"

// invariants are those of the permission that each site has, and gives to one
// request at a time.
func invariants() []dme.Invariant {
	return []dme.Invariant{{
		Name: "one permission", Citation: "textbook, section 9.9.5, steps 3, 5 and 7, with A1",
		Statement: "the permission of a site is at the node whose request it has granted, or in one Reply, Yield or Relinquish between " +
			"the two, and with no other node",
		Holds: onePermission,
	}, {
		Name: "one Request", Citation: "textbook, section 9.9.5, steps 1, 2 and 8",
		Statement: "at each site of its quorum, the Request of a node that waits or is inside is on its way, or in the queue, or granted",
		Holds:     oneRequest,
	}}
}

func oneRequest(v dme.GlobalView) error {
	for i, n := range dme.NodesOf[*node](v) {
		if n.request.IsZero() {
			continue
		}
		for _, a := range n.Members {
			site, requests, queued, granted := dme.NodeOf[*node](v, a), 0, 0, 0
			for _, m := range v.Between(i, a) {
				if m.Kind == kindRequest && m.Clock == n.request.Clock {
					requests++
				}
			}
			for _, r := range site.waiting {
				if r == n.request {
					queued++
				}
			}
			if site.granted == n.request {
				granted++
			}
			if requests+queued+granted != 1 {
				return dme.Broken([]dme.NodeID{a, i},
					"the Request %v is %d times on its way to site %d and %d times in its queue; the site has granted %v",
					n.request, requests, a, queued, site.granted)
			}
		}
	}
	return nil
}

func onePermission(v dme.GlobalView) error {
	for a, site := range dme.NodesOf[*node](v) {
		for i, n := range dme.NodesOf[*node](v) {
			permissions, want := 0, 0
			if n.holds(a) {
				permissions++
			}
			for _, m := range v.Between(a, i) {
				if m.Kind == kindReply {
					permissions++
				}
			}
			for _, m := range v.Between(i, a) {
				if m.Kind == kindYield || m.Kind == kindRelinquish {
					permissions++
				}
			}
			if site.granted.Node == i {
				want = 1
			}
			if permissions != want {
				return dme.Broken([]dme.NodeID{a, i},
					"site %d has granted %v; node %d has its permission: %t, and with messages between the two there are %d permissions, not %d",
					a, site.granted, i, n.holds(a), permissions, want)
			}
		}
	}
	return nil
}
