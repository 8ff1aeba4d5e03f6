package check

import (
	"fmt"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// The properties that no single step shows, beside those that vnet judges.
// Progress: somebody who waits is served, without anybody's asking again.
// Liveness: entries keep coming while somebody waits. Starvation is named for what
// breaks it: others enter without end while a node that has asked waits, although
// every message arrives, every critical section ends and every timer fires. A
// schedule of a random search has an end, and is judged by [tooMany]. Rest: when all requests
// are served and the nodes have been told that no more will come, the messages
// end.
const (
	Progress   vnet.Property = "progress"
	Liveness   vnet.Property = "liveness"
	Starvation vnet.Property = "starvation"
	Rest       vnet.Property = "rest"
)

func stalled(waiting []dme.NodeID) *vnet.Violation {
	return &vnet.Violation{
		Property: Progress, Nodes: waiting,
		Verdict: fmt.Sprintf("stalled: %s, nobody is in the critical section, and no message is on the way", wait(waiting)),
	}
}

// forever is the violation of a system that goes on without an entry, while
// nodes wait or, where none does, without coming to rest.
func forever(waiting []dme.NodeID, toWait, toRest string) *vnet.Violation {
	if len(waiting) == 0 {
		return &vnet.Violation{Property: Rest, Verdict: "no rest: " + toRest + ", though nobody will ask again"}
	}
	return &vnet.Violation{Property: Liveness, Verdict: "no entry" + toWait + ", though " + wait(waiting), Nodes: waiting}
}

// tooLong is what patience ends.
func tooLong(waiting []dme.NodeID, steps int) *vnet.Violation {
	return forever(waiting, fmt.Sprintf(" in %d steps", steps), fmt.Sprintf("%d steps after the last exit messages still flow", steps))
}

// repeats is tooLong, proved: the same steps over and over.
func repeats(waiting []dme.NodeID, steps int) *vnet.Violation {
	again := fmt.Sprintf("the last %d steps repeat for ever", steps)
	return forever(waiting, ": "+again, again)
}

// wait is "node 2 waits" or "nodes 1, 3 wait".
func wait(nodes []dme.NodeID) string {
	if len(nodes) == 1 {
		return "node " + nodes[0].String() + " waits"
	}
	text := "nodes "
	for i, id := range nodes {
		if i > 0 {
			text += ", "
		}
		text += id.String()
	}
	return text + " wait"
}
