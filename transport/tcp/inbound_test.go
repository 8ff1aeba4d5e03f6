package tcp

import (
	"bytes"
	"testing"

	"dmebench/dme"
	"dmebench/transport/frame"
)

// FuzzInbound lets a process that knows the run's key send whatever it likes:
// only frames from its own nodes to those of this process are delivered, no more
// bytes than have come, and everything else is refused or ends the connection.
func FuzzInbound(f *testing.F) {
	f.Add(frame.Append(frame.Append(nil, 3, 1, []byte("hello")), 4, 2, nil))
	f.Add(append(frame.Append(nil, 3, 1, nil), frame.Goodbye...))
	f.Add(frame.Append(frame.Append(nil, 1, 3, []byte("not mine")), 3, 9, nil))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	here := &process{nodes: []dme.NodeID{1, 2}}
	there := &process{nodes: []dme.NodeID{3, 4}}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := &Transport{}
		tr.top.Store(&topology{of: []*process{nil, here, here, there, there}, self: here})
		seen := &tally{t: t}
		tr.handler = seen
		in := &inbound{t: tr, from: there}
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
