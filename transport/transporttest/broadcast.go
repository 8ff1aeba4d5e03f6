package transporttest

import (
	"testing"

	"dmebench/dme"
	"dmebench/transport"
)

// testBroadcast lets every node of three processes say everything to all others,
// by turns to all at once and to one after the other: all of it arrives once, in
// one order for each pair where that is promised, also at the nodes of the
// sender's own process.
func testBroadcast(t *testing.T, s Subject) {
	l := layout{2, 1, 2}
	n := l.nodes()
	each := 1000
	if testing.Short() {
		each /= 10
	}
	book := newLedger(s, n*(n-1)*each)
	book.toAll = true
	c := open(t, s, l, Knobs{}, everyone(n))
	c.start(func(int) transport.Handler { return handler{book.enter, book.noDown} })
	c.each(func(process int) error {
		tr := c.transports[process]
		b := make([]byte, 30)
		for seq := range uint64(each) {
			for _, from := range l.local(process) {
				fill(b, pair{from, dme.None}, seq)
				if err := sayToAll(tr, n, from, b, seq%3 != 0); err != nil {
					return err
				}
			}
			if seq%8 == 7 {
				tr.Flush()
			}
		}
		return tr.Flush()
	})
	book.settle(t, s)
	c.total(n * (n - 1) * each)
}

func sayToAll(tr transport.Transport, nodes int, from dme.NodeID, b []byte, atOnce bool) error {
	if atOnce {
		return tr.(transport.Broadcaster).Broadcast(from, b)
	}
	for to := dme.NodeID(1); int(to) <= nodes; to++ {
		if to == from {
			continue
		}
		if err := tr.Send(from, to, b); err != nil {
			return err
		}
	}
	return nil
}
