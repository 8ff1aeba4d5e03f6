package udp

import (
	"sync"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// journal keeps what a handler is told.
type journal struct {
	mu     sync.Mutex
	frames []string
	downs  []dme.NodeID
	cause  error
}

func newJournal() *journal { return new(journal) }

func (j *journal) Frame(_, _ dme.NodeID, b []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.frames = append(j.frames, string(b))
}

func (j *journal) Down(peer dme.NodeID, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.downs, j.cause = append(j.downs, peer), err
}

// wait waits until a condition holds of the journal.
func (j *journal) wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	transporttest.Eventually(t, what, func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return holds()
	})
}

func noLeaks(t testing.TB) { transporttest.NoLeaks(t) }

// openAll opens and starts a run's processes, of so many nodes each, which know all
// nodes as peers.
func openAll(tb testing.TB, l limits, o func(process int) Options, key transport.Key, h func(process int) transport.Handler,
	nodes ...int) (ts []*Transport) {
	tb.Helper()
	total := 0
	for _, n := range nodes {
		total += n
	}
	var all []dme.NodeID
	for id := range total {
		all = append(all, dme.NodeID(id+1))
	}
	var book transport.AddressBook
	for i, n := range nodes {
		local := all[len(book):][:n]
		tr, err := listen(transport.Config{Listen: "127.0.0.1:0", Local: local, Nodes: total, Key: key, Peers: all}, o(i), l)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { tr.Close() })
		ts = append(ts, tr)
		for range n {
			book = append(book, tr.Addr())
		}
	}
	for i, tr := range ts {
		if err := tr.Start(book, h(i)); err != nil {
			tb.Fatal(err)
		}
	}
	return ts
}

// openPair opens and starts two processes of a node each.
func openPair(tb testing.TB, o Options, h transport.Handler) []*Transport {
	tb.Helper()
	return openAll(tb, patient(transporttest.Knobs{}), func(int) Options { return o }, transporttest.NewKey(),
		func(int) transport.Handler { return h }, 1, 1)
}
