package fault

import "dmebench/dme"

// Bears lists what a is made to bear, with its default options: "crash" where it
// goes on without a node, wherever that is possible, and "restart", "join" and
// "leave" where its nodes know how to.
func Bears(a *dme.Algorithm) []string {
	var all []string
	if a.Survives != nil {
		all = append(all, "crash")
	}
	node := anyNode(a)
	if _, ok := node.(dme.Restarter); ok {
		all = append(all, string(Restart))
	}
	if _, ok := node.(dme.Joiner); ok {
		all = append(all, string(Join))
	}
	if _, ok := node.(dme.Leaver); ok {
		all = append(all, string(Leave))
	}
	return all
}

// anyNode returns a node of some small system, nil where there is none.
func anyNode(a *dme.Algorithm) dme.Node {
	for n := 2; n <= 16; n++ {
		if sys, err := a.New(n, 1, nil); err == nil {
			return sys.Node(1)
		}
	}
	return nil
}
