package sim

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"dmebench/algorithms/agrawalelabbadi"
	"dmebench/dme"
	"dmebench/result"
)

var full = flag.Bool("full", false, "run the long tests too")

// In agrawal-el-abbadi with 15 nodes, whichever fail at the start, the others are
// all served where text 9.9.4 finds a quorum among them, and nobody is where it
// finds none. With -full these are all 2^15−1 sets, else some of each size.
func TestTreeQuorumsWithEverySetOfFailedNodes(t *testing.T) {
	const nodes, each = 15, 2
	step := 331 // is prime, and so hits sets of every size
	if *full {
		step = 1
	}
	served, stalled := 0, 0
	for down := 0; down < 1<<nodes-1; down += step {
		up := func(id dme.NodeID) bool { return down>>(id-1)&1 == 0 }
		var failed []string
		alive := 0
		for id := dme.NodeID(1); id <= nodes; id++ {
			if up(id) {
				alive++
			} else {
				failed = append(failed, fmt.Sprint(id))
			}
		}
		promised := treeQuorum(1, nodes, up)
		spec := result.Spec{
			Nodes: nodes, Requests: each * nodes, CS: "1ms", Seed: uint64(down) + 1,
			Set: map[string]string{"path": []string{"self", "random"}[down/step%2]},
		}
		if failed != nil {
			spec.Faults = []string{"kill " + strings.Join(failed, ",") + " @1ns"}
		}
		r := simulate(t, spec, agrawalelabbadi.Algorithm())
		ok := r.Safety.Violations == 0
		if promised {
			served++
			ok = ok && r.Status == result.OK && r.Liveness.Pending == 0 && r.Entries >= uint64(each*alive)
		} else {
			stalled++
			ok = ok && r.Status == result.Stalled && r.Entries == 0
		}
		if !ok {
			t.Errorf("nodes %v failed, promised: %v: %s: %s, %d entries of %d live nodes, %d violations",
				failed, promised, r.Status, r.Error, r.Entries, alive, r.Safety.Violations)
		}
	}
	t.Logf("%d sets of failed nodes leave a quorum, %d do not", served, stalled)
	if served == 0 || stalled == 0 {
		t.Error("nothing was compared")
	}
}

// treeQuorum is algorithm 9.6, which asks no more than whether there is a quorum in
// the tree below a node: a path from there to a leaf or, in place of a node that has
// failed, such a path from each of its children.
func treeQuorum(id, nodes dme.NodeID, up func(dme.NodeID) bool) bool {
	if 2*id > nodes {
		return up(id)
	}
	left, right := treeQuorum(2*id, nodes, up), treeQuorum(2*id+1, nodes, up)
	if up(id) {
		return left || right
	}
	return left && right
}
