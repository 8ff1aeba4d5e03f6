package ricartagrawalatoken

import "dmebench/dme"

// invariants are those of a single token, and of the numbers that tell a request
// that it has served from one that it has not.
func invariants() []dme.Invariant {
	const source = "Ricart and Agrawala, CACM 26(2), 1983"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		{
			Name: "request numbers", Citation: source,
			Statement: "no node has heard of a request that was not made, and the token has served none that was not: " +
				"request_i[j] ≤ clock_j and token[j] ≤ clock_j",
			Holds: requestNumbers,
		},
	}
}

func requestNumbers(v dme.GlobalView) error {
	check := func(numbers []uint64, whose string) error {
		for j, n := range dme.NodesOf[*node](v) {
			if numbers[j-1] > n.clock {
				return dme.Broken([]dme.NodeID{j}, "%s has the number %d for node %d, whose last request is %d", whose, numbers[j-1], j, n.clock)
			}
		}
		return nil
	}
	for i, n := range dme.NodesOf[*node](v) {
		if err := check(n.request, "request of node "+i.String()); err != nil {
			return err
		}
		if n.token != nil {
			if err := check(n.token, "the token"); err != nil {
				return err
			}
		}
	}
	for _, f := range v.InFlight() {
		if f.Kind == kindToken {
			if err := check(f.Vec, "the token"); err != nil {
				return err
			}
		}
	}
	return nil
}
