package tcp

import (
	"bytes"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/frame"
	"dmebench/transport/peers"
)

// FuzzInbound lets a process that knows the run's key send whatever it likes:
// only frames from its own nodes to those of this process are delivered, no more
// bytes than have come, and everything else is refused or ends the connection.
func FuzzInbound(f *testing.F) {
	f.Add(frame.Append(frame.Append(nil, 3, 1, []byte("hello")), 4, 2, nil))
	f.Add(append(frame.Append(nil, 3, 1, nil), frame.Goodbye...))
	f.Add(frame.Append(frame.Append(nil, 1, 3, []byte("not mine")), 3, 9, nil))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	top, err := peers.NewTopology[peer]("tcp", transport.AddressBook{"here", "here", "there", "there"},
		&transport.Config{Nodes: 4, Local: []dme.NodeID{1, 2}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := &Transport{}
		tr.top.Store(top)
		seen := &tally{t: t}
		tr.handler = seen
		in := &inbound{t: tr, from: top.At(1)}
		err := in.deliver(bytes.NewReader(b))
		if seen.bytes > len(b) {
			t.Fatalf("%d bytes are delivered out of %d", seen.bytes, len(b))
		}
		if c := tr.Counters(); c.Received != seen.frames {
			t.Fatalf("%d frames by the counters, %d delivered", c.Received, seen.frames)
		}
		if err == nil && !bytes.Contains(b, []byte(frame.Goodbye)) {
			t.Fatal("it is taken for a farewell")
		}
	})
}

// tally expects frames of nodes 3 and 4 for nodes 1 and 2.
type tally struct {
	t      *testing.T
	frames uint64
	bytes  int
}

func (y *tally) Frame(from, to dme.NodeID, b []byte) {
	if from < 3 || from > 4 || to < 1 || to > 2 {
		y.t.Fatalf("a frame from %d to %d is delivered", from, to)
	}
	y.frames++
	y.bytes += len(b)
}

func (y *tally) Down(dme.NodeID, error) {}
