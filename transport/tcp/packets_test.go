package tcp

import (
	"runtime"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// Segments are counted while a connection lives and after it: those with frames,
// and at the other end those that acknowledge them.
func TestPackets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is known of them here")
	}
	var ts [2]*Transport
	var book transport.AddressBook
	es := [2]*transporttest.Events{transporttest.NewEvents(), transporttest.NewEvents()}
	for i := range ts {
		tr, err := Listen(transport.Config{
			Listen: "127.0.0.1:0", Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: 2, Key: testKey,
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		ts[i], book = tr, append(book, tr.Addr())
	}
	for i, tr := range ts {
		if err := tr.Start(book, es[i]); err != nil {
			t.Fatal(err)
		}
	}
	const frames = 50
	send := func() (sender, receiver uint64) {
		t.Helper()
		for range frames {
			if err := ts[0].Send(1, 2, []byte("x")); err != nil {
				t.Fatal(err)
			}
			ts[0].Flush()
			next(t, "a frame", es[1].Frames)
		}
		return ts[0].Counters().Packets, ts[1].Counters().Packets
	}
	first, acks := send()
	second, moreAcks := send()
	if second-first < frames { // each frame was awaited: none shares a segment
		t.Errorf("%d segments for %d frames that were sent one by one", second-first, frames)
	}
	if acks == 0 || moreAcks < acks {
		t.Errorf("the receiver has sent %d segments, and then %d", acks, moreAcks)
	}
	ts[1].Close()
	ts[0].Close()
	for i, least := range []uint64{second, moreAcks} {
		if got := ts[i].Counters().Packets; got < least {
			t.Errorf("process %d: %d segments by the counters after Close, %d before", i+1, got, least)
		}
	}
}
