package check

import (
	"fmt"

	"dmebench/dme"
)

// Property is what a schedule can break.
type Property string

// The properties that are checked. Exclusion: a node is in the critical section
// alone, or with readers as a reader. Asked: nobody enters without a request.
// Progress: somebody who waits is served, without anybody's asking again.
// Liveness: entries keep coming while somebody waits. Rest: when all requests
// are served and the nodes have been told that no more will come, the messages
// end. Overtaking: no more entries of others than the bound come before a
// request's. Sanity: no node panics.
const (
	Exclusion  Property = "mutual exclusion"
	Asked      Property = "entry on request only"
	Progress   Property = "progress"
	Liveness   Property = "liveness"
	Rest       Property = "rest"
	Overtaking Property = "bounded bypass"
	Sanity     Property = "sanity"
)

// Violation is a broken property.
type Violation struct {
	Property Property     `json:"property"`
	Verdict  string       `json:"verdict"` // in one sentence
	Nodes    []dme.NodeID `json:"nodes"`   // whom it concerns
}

func (v *Violation) String() string { return v.Verdict }

func twoInside(first, second dme.NodeID, firstShared, secondShared bool) *Violation {
	if second < first {
		first, second, firstShared, secondShared = second, first, secondShared, firstShared
	}
	as := func(id dme.NodeID, shared bool) string {
		if shared {
			return id.String() + " (reading)"
		}
		return id.String()
	}
	return &Violation{
		Exclusion, fmt.Sprintf("two nodes are in the critical section: %s and %s", as(first, firstShared), as(second, secondShared)),
		[]dme.NodeID{first, second},
	}
}

func unasked(id dme.NodeID) *Violation {
	return &Violation{Asked, fmt.Sprintf("node %d enters the critical section without a request", id), []dme.NodeID{id}}
}

func stalled(waiting []dme.NodeID) *Violation {
	return &Violation{
		Progress, fmt.Sprintf("stalled: %s, nobody is in the critical section, and no message is on the way", wait(waiting)), waiting,
	}
}

func unserved(waiting []dme.NodeID, steps int) *Violation {
	return &Violation{Liveness, fmt.Sprintf("no entry in %d steps, though %s", steps, wait(waiting)), waiting}
}

func restless(steps int) *Violation {
	return &Violation{Rest, fmt.Sprintf("no rest: %d steps after the last exit messages still flow, though nobody will ask again", steps), nil}
}

func overtaken(id dme.NodeID, bound int) *Violation {
	return &Violation{
		Overtaking, fmt.Sprintf("node %d is overtaken: %d entries of others since it asked, more than %d", id, bound+1, bound), []dme.NodeID{id},
	}
}

func panicked(id dme.NodeID, text string) *Violation {
	return &Violation{Sanity, fmt.Sprintf("node %d panics: %s", id, text), []dme.NodeID{id}}
}

// wait is "node 2 waits" or "nodes 1, 3 wait".
func wait(nodes []dme.NodeID) string {
	if len(nodes) == 1 {
		return "node " + nodes[0].String() + " waits"
	}
	b := []byte("nodes ")
	for i, id := range nodes {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, id.String()...)
	}
	return string(b) + " wait"
}

// repeats is unserved or restless, proved: the same steps over and over.
func repeats(waiting []dme.NodeID, steps int) *Violation {
	if len(waiting) == 0 {
		return &Violation{Rest, fmt.Sprintf("no rest: the last %d steps repeat for ever, though nobody will ask again", steps), nil}
	}
	return &Violation{Liveness, fmt.Sprintf("no entry: the last %d steps repeat for ever, though %s", steps, wait(waiting)), waiting}
}
