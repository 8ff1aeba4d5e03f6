package nats

import (
	"encoding/binary"
	"testing"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport"
)

// FuzzMessage lets a process take whatever the broker brings: for one of its
// nodes, as a broadcast with its place in the one order, as a report of progress
// and as a goodbye; sealed with the run's key, as a peer could, or not. What a
// stranger sends is refused; what is delivered is for a node here, and no longer
// than what has come.
func FuzzMessage(f *testing.F) {
	const (
		unicast = iota
		broadcast
		sequenced
		progress
		goodbye
		ways
	)
	f.Add(append(header{from: 2, to: 1, number: 1}.append(nil), "body"...), byte(unicast), true, true)
	f.Add(append(header{from: 2, number: 1}.append(nil), "body"...), byte(broadcast), true, false)
	f.Add(append(header{from: 2, number: 1}.append(nil), "body"...), byte(sequenced), true, true)
	f.Add(binary.AppendUvarint([]byte{2, 1}, 1<<40), byte(progress), true, false)
	f.Add([]byte{2, 1, 0}, byte(goodbye), true, true)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff}, byte(unicast), false, true)
	f.Fuzz(func(t *testing.T, b []byte, way byte, sealed, own bool) {
		way %= ways
		c := config(1, 2)
		tr := &Transport{
			config: c, limits: defaultLimits(2), prefix: prefix(&c.Key, own), seal: newSeal(&c.Key, own),
			alls: new(natsgo.Subscription), byes: new(natsgo.Subscription), closed: make(chan struct{}),
		}
		tr.broker.Own, tr.broker.Sequenced = own, way == sequenced
		top, err := newTopology(transport.AddressBook{tr.Addr(), tr.prefix + "." + processName(2, 1)}, &tr.config, tr.prefix, way == sequenced)
		if err != nil {
			t.Fatal(err)
		}
		tr.top.Store(top)
		delivered := 0
		tr.handler = handler{frame: func(from, to dme.NodeID, body []byte) {
			delivered++
			if from != 1 && from != 2 || to != 1 || len(body) > len(b) {
				t.Fatalf("a frame of %d bytes from %d to %d is delivered, out of %d bytes", len(body), from, to, len(b))
			}
		}}
		m := &natsgo.Msg{Data: b}
		what := map[byte]kind{unicast: aFrame, broadcast: aFrame, sequenced: anOrder, progress: aProgress, goodbye: aGoodbye}[way]
		if sealed {
			content := tr.seal.start(nil, what)
			if way == sequenced {
				content = binary.AppendUvarint(content, 1)
			}
			m.Data = tr.seal.close(append(content, b...), what)
		}
		switch way {
		case unicast:
			tr.arrived(top, m)
		case broadcast, sequenced:
			m.Sub = tr.alls
			tr.arrived(top, m)
		case progress:
			tr.hear(m)
		case goodbye:
			m.Sub = tr.byes
			tr.hear(m)
		}
		if !sealed && (delivered > 0 || tr.refused.Load() != 1 || top.Of(2).State.out.left.Load() || top.Of(2).State.out.handled.Load() > 0) {
			t.Fatalf("%x of a stranger is taken", b)
		}
	})
}
