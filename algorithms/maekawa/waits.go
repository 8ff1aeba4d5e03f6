package maekawa

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

// Waits tells what a node of the repaired algorithm waits for.
func (n *node) Waits() []dme.Wait {
	waits := n.waits(n.inquiring, !n.inquired.Empty())
	for _, j := range n.failures.Unheard() {
		waits = append(waits, dme.Wait{For: j, What: "RECLAIM, or word that it holds no lock"})
	}
	slices.SortStableFunc(waits, byPeer)
	return waits
}

// Waits tells what a node of the paper waits for.
func (n *paperNode) Waits() []dme.Wait { return n.waits(n.inquired, !n.deferred.Empty()) }

// Waits tells what a site of the textbook waits for. It forgets an INQUIRE that it
// cannot answer.
func (n *textbookNode) Waits() []dme.Wait { return n.waits(true, false) }

// waits returns what is waited for, by peer: as a requester, that members lock
// themselves; as an arbiter for whom others wait, that the node gives way for
// which this one is locked. inquiring says that it has been inquired of, deferred
// that the requester has still to answer an INQUIRE. What a node waits for of
// itself is in its other part.
func (s *site) waits(inquiring, deferred bool) (waits []dme.Wait) {
	if s.pending() {
		what := "LOCKED"
		if deferred {
			what = "LOCKED, or FAILED to answer an INQUIRE"
		}
		for k, j := range s.Members {
			if j != s.ID && !s.locked.Has(k) {
				waits = append(waits, dme.Wait{For: j, What: what})
			}
		}
	}
	if j := s.locking.Node; j != dme.None && j != s.ID && len(s.waiting) > 0 {
		what := "RELEASE of its lock"
		if inquiring {
			what = "RELINQUISH or RELEASE of its lock"
		}
		waits = append(waits, dme.Wait{For: j, What: what})
	}
	slices.SortStableFunc(waits, byPeer)
	return waits
}

func byPeer(a, b dme.Wait) int { return cmp.Compare(a.For, b.For) }
