package courier

import "dmebench/dme"

// oneKey is the invariant of the courier: the key is at home, or with one node that
// is inside, or on its way in one message. Algorithm may list it in its Invariants.
func oneKey() dme.Invariant {
	return dme.Invariant{
		Name: "one key", Citation: "docs/adding-an-algorithm.md",
		Statement: "the key is at home, with one node inside, or in one KEY or BACK on its way",
		Holds: func(v dme.GlobalView) error {
			keys := 0
			for id, n := range dme.NodesOf[*node](v) {
				if n.here || v.Activity(id) == dme.Inside {
					keys++
				}
			}
			for _, m := range v.InFlight() {
				if m.Kind == key || m.Kind == back {
					keys++
				}
			}
			if keys == 1 {
				return nil
			}
			return dme.Broken(nil, "there are %d keys", keys)
		},
	}
}
