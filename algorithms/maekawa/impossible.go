package maekawa

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// impossible says why no node that keeps to the algorithm can have sent this
// message, over links that keep their guarantees; "" where one can. Messages
// that are merely late are not impossible: the handlers ignore them.
func (n *node) impossible(from dme.NodeID, m *dme.Message) string {
	if !quorum.Believable(m.Clock) && m.Kind != kindReclaim { // of which the sender may have had no message yet
		return "no such clock"
	}
	switch m.Kind {
	case kindRequest:
		return n.impossibleRequest(dme.Stamp{Clock: m.Clock, Node: from}, m.Flags&substitute != 0)
	case kindLocked, kindFailed, kindInquire:
		return n.impossibleAnswer(from, m)
	case kindRelinquish:
		if n.locking.Node != from || !n.inquiring || m.Num != n.grant {
			return "RELINQUISH of a lock that was not inquired about"
		}
	case kindRelease:
		if n.numbered && n.failures.Expects(from) && n.locking.Node != from {
			break // it has overtaken the RECLAIM of what it gives back
		}
		if n.locking.Node != from || n.numbered && m.Req != n.locking {
			return "RELEASE of a lock that is not held"
		}
	case kindWithdraw:
		if n.locking.Node != from && !n.waiting.Has(from) {
			return "WITHDRAW of no request"
		}
	case kindReclaim:
		return n.impossibleReclaim(from, m.Req)
	default:
		return "no such kind of message"
	}
	return ""
}

func (n *node) impossibleRequest(r dme.Stamp, substitute bool) string {
	if !substitute && !n.Serves(r.Node) {
		return "REQUEST of a node that must not ask this one"
	}
	// With numbers, a REQUEST may overtake the RELEASE of the one before it.
	if n.locking.Node == r.Node && !(n.numbered && n.locking.Precedes(r)) {
		return "REQUEST of a node that holds the lock"
	}
	if n.waiting.Has(r.Node) {
		return "REQUEST of a node that waits already"
	}
	return ""
}

func (n *node) impossibleAnswer(from dme.NodeID, m *dme.Message) string {
	if n.stale(from, m) {
		return ""
	}
	j := n.MemberIndex(from)
	if j < 0 {
		if m.Kind == kindInquire {
			return "" // of a substitute, about a lock of an earlier request
		}
		return "answer of a node that was not asked"
	}
	switch m.Kind {
	case kindLocked:
		if !n.pending() || n.locked.Has(j) || n.numbered && m.Num <= n.grants[j] {
			return "LOCKED without a request"
		}
	case kindFailed:
		// In order, a FAILED comes before the LOCKED that makes up for it.
		if !n.numbered && (!n.pending() || n.locked.Has(j)) {
			return "FAILED without a request, or after LOCKED"
		}
		if n.yieldAlways {
			return "FAILED where nobody fails"
		}
	case kindInquire:
		// It may speak of a lock that is on its way, not of a later one.
		if n.numbered && m.Num > n.grants[j] && (!n.pending() || n.locked.Has(j)) {
			return "INQUIRE about a lock that does not exist"
		}
	}
	return ""
}
