package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

// This file is what the nodes of all sections wait for, as [dme.Waiter] asks.

const reply = "REPLY"

// Waits of a node of section 2 are the replies that it lacks.
func (n *node) Waits() []dme.Wait { return dme.WaitsFor(reply, n.awaitingReply.All()) }

// Waits of section 6.1 are the replies of those who have said DEFERRED. Nobody
// is waited for while silence may still become a reply.
func (n *implicitNode) Waits() []dme.Wait { return dme.WaitsFor(reply, n.owed.deferredBy.All()) }

// Waits of section 6.2.1 are the replies of those whose REQUEST came first.
func (l *listener) Waits() []dme.Wait {
	var first []dme.NodeID
	for _, r := range l.waiting {
		if r.Node == l.me {
			slices.Sort(first)
			return dme.WaitsFor(reply, slices.Values(first))
		}
		first = append(first, r.Node)
	}
	return nil
}

// somewhere is where a REQUEST is that goes round, for all that its node knows.
func somewhere() []dme.Wait { return []dme.Wait{{What: "REQUEST, which is kept on its way round"}} }

// Waits of section 6.3, first form, is for the REQUEST to come home.
func (n *echoNode) Waits() []dme.Wait {
	if n.requestingCriticalSection && !n.inside {
		return somewhere()
	}
	return nil
}

// Waits of section 6.3, second form, is for the REQUEST to come home and then for
// those who have noted a deferral on it.
func (n *notesNode) Waits() []dme.Wait {
	if n.requestingCriticalSection && !n.home && !n.inside {
		return somewhere()
	}
	return dme.WaitsFor(reply, n.owed.deferredBy.All())
}

// Waits of section 7 are the answers that are due. A newcomer that is looking for
// a group, or for REQUESTs of anybody, waits for time to pass.
func (n *robustNode) Waits() []dme.Wait {
	switch n.stage {
	case asking, probing, applying:
		what := "WELCOME"
		if n.requestingCriticalSection {
			what = reply
		}
		return dme.WaitsFor(what, n.awaiting.All())
	case inserting, welcoming, departing, announcing:
		return dme.WaitsFor("ACKNOWLEDGE", n.awaiting.All())
	case comparing:
		return dme.WaitsFor("HIGHEST", n.awaiting.All())
	case consulting:
		return dme.WaitsFor("HIGHEST", n.suspects.All())
	case listening:
		if n.way == "each" {
			return dme.WaitsFor("REQUEST", n.awaiting.All())
		}
	}
	return nil
}
