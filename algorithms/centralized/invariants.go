package centralized

import "dmebench/dme"

// invariants are those of step 2: the resource is granted to one node at a time.
func invariants() []dme.Invariant {
	return []dme.Invariant{{
		Name: "one grant", Citation: "textbook, Exercise 9.6, step 2",
		Statement: "the resource is free, or granted to one node, which is inside or for which a GRANT or a RELEASE is on its way",
		Holds:     oneGrant,
	}, {
		Name: "one place in line", Citation: "textbook, Exercise 9.6, steps 1 and 2",
		Statement: "a node that waits has one REQUEST on its way, or stands in the queue once, or has been granted the resource",
		Holds:     onePlace,
	}}
}

func onePlace(v dme.GlobalView) error {
	s := dme.NodeOf[*server](v, coordinator)
	for id := dme.NodeID(1); int(id) <= v.Setting().Nodes; id++ {
		if v.Activity(id) != dme.Requesting {
			continue
		}
		requests, queued := 0, 0
		for x := range s.queue.All() {
			if x == id {
				queued++
			}
		}
		granted := s.holder == id
		for _, m := range v.Between(id, coordinator) {
			switch m.Kind {
			case kindRequest:
				requests++
			case kindRelease:
				granted = false // of the last entry
			}
		}
		if places := requests + queued; granted && places != 0 || !granted && places != 1 {
			return dme.Broken([]dme.NodeID{id}, "node %d waits, granted=%t, with %d REQUESTs on their way and %d places in the queue",
				id, granted, requests, queued)
		}
	}
	return nil
}

func oneGrant(v dme.GlobalView) error {
	s := dme.NodeOf[*server](v, coordinator)
	for id := dme.NodeID(1); int(id) <= v.Setting().Nodes; id++ {
		grants, releases, inside := 0, 0, 0
		if v.Activity(id) == dme.Inside {
			inside = 1
		}
		if id != coordinator {
			for _, m := range v.Between(coordinator, id) {
				if m.Kind == kindGrant {
					grants++
				}
			}
			for _, m := range v.Between(id, coordinator) {
				if m.Kind == kindRelease {
					releases++
				}
			}
		}
		want := 0
		if s.holder == id {
			want = 1
		}
		if grants+releases+inside != want {
			return dme.Broken([]dme.NodeID{id},
				"the resource is granted to node %s, and node %d has %d GRANTs and %d RELEASEs on their way, and is %v",
				holderOf(s), id, grants, releases, v.Activity(id))
		}
	}
	return nil
}

func holderOf(s *server) string {
	if s.holder == dme.None {
		return "–"
	}
	return s.holder.String()
}
