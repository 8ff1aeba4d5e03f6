package transporttest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
)

func refusals(tr transport.Transport) uint64 {
	c := tr.Counters()
	return c.RefusedConns + c.RefusedFrames
}

// testWrongKey lets a process with another key claim to be a node of the run.
func testWrongKey(t *testing.T, s Subject) {
	arrived := make(chan string, 10)
	c := open(t, s, layout{1, 1}, Knobs{}, nil)
	c.start(func(int) transport.Handler {
		return handler{frame: func(_, _ dme.NodeID, b []byte) { arrived <- string(b) }}
	})
	intruder, err := s.Open(transport.Config{
		Listen: "127.0.0.1:0", Local: []dme.NodeID{2}, Nodes: 2, Key: NewKey(),
		Peers: []dme.NodeID{1},
	}, Knobs{})
	if err != nil {
		t.Fatal(err)
	}
	defer intruder.Close()
	book := slices.Clone(c.book)
	book[1] = intruder.Addr()
	// Whether the intruder learns that it is refused is the transport's affair.
	if err := intruder.Start(book, handler{}); err == nil {
		intruder.Send(2, 1, []byte("forged"))
		intruder.Flush()
	}
	eventually(t, s, "the refusal", func() bool { return refusals(c.transports[0]) > 0 })

	c.send(2, 1, []byte("genuine"))
	if s.Guarantees.Reliable {
		if got := await(t, s, "the genuine frame", arrived); got != "genuine" {
			t.Errorf("delivered %q of a process without the key", got)
		}
	}
}

// testGarbage lets strangers write noise while the run's processes talk.
func testGarbage(t *testing.T, s Subject) {
	const strangers = 30
	c, book := openLedger(t, s, layout{1, 1}, Knobs{}, nil, 2000)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 1000 {
		for _, p := range []pair{{1, 2}, {2, 1}} {
			c.send(p.from, p.to, fill(make([]byte, 50), p, uint64(i)))
		}
		if i%(1000/strangers) != 0 || i/(1000/strangers) >= strangers {
			continue
		}
		conn, err := s.Stranger(c.transports[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		noise := make([]byte, 1+r.IntN(1000))
		for j := range noise {
			noise[j] = byte(r.Uint32())
		}
		conn.Write(noise) // may fail: refused already
		conn.Close()
	}
	eventually(t, s, "all strangers to be refused", func() bool { return refusals(c.transports[0]) >= strangers })
	book.settle(t, s)
}

// testSilentStrangers opens many connections that say nothing. The run's own
// processes must get in all the same.
func testSilentStrangers(t *testing.T, s Subject) {
	c, book := openLedger(t, s, layout{1, 1, 1}, Knobs{}, nil, 2)
	for range 300 {
		conn, err := s.Stranger(c.transports[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for from := dme.NodeID(2); from <= 3; from++ {
		c.send(from, 1, fill(make([]byte, 50), pair{from, 1}, 0))
	}
	book.settle(t, s)
}
