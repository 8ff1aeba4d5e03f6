package ricartagrawala

import (
	"dmebench/dme"
	"dmebench/dme/collections"
)

// balance says who owes us a REPLY, where deferrals are told: in sections 6.1
// and 6.3. Links need not keep order, so that the REPLY may be here before the
// news of the deferral that it ends. Whoever counts one up and the other down
// from what he has then waits for ever.
type balance struct {
	deferredBy   collections.NodeSet // who has deferred our request and not yet replied
	repliedFirst collections.NodeSet // whose REPLY was here before the news of its deferral
}

func makeBalance(n int) balance {
	return balance{deferredBy: collections.MakeNodeSet(n), repliedFirst: collections.MakeNodeSet(n)}
}

// deferred takes the news that j has deferred our request. It reports false
// where that is no news.
func (b *balance) deferred(j dme.NodeID) bool {
	switch {
	case b.deferredBy.Has(j):
		return false
	case b.repliedFirst.Has(j):
		b.repliedFirst.Remove(j)
	default:
		b.deferredBy.Add(j)
	}
	return true
}

// replied takes j's REPLY. It reports false where there was one already.
func (b *balance) replied(j dme.NodeID) bool {
	switch {
	case b.repliedFirst.Has(j):
		return false
	case b.deferredBy.Has(j):
		b.deferredBy.Remove(j)
	default:
		b.repliedFirst.Add(j) // the news of its deferral is still to come
	}
	return true
}

// settled reports whether all deferrals that we know of are over.
func (b *balance) settled() bool { return b.deferredBy.Empty() }

// clear forgets replies to deferrals that were never told: there are none as
// long as the links do what they promise.
func (b *balance) clear() { b.repliedFirst.Clear() }

func (b *balance) show(v *dme.Visitor) {
	b.deferredBy.Show(v, "Deferred_By")
	b.repliedFirst.Show(v, "Replied_First")
}
