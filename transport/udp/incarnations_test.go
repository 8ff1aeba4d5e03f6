package udp

import (
	"testing"

	"dmebench/transport/frame"
	"dmebench/transport/transporttest"
)

// A datagram is taken from the incarnation that is there, for this one; what comes too
// early is dropped, and what comes too late is refused, also where it is genuine.
func TestDatagramsOfOtherIncarnations(t *testing.T) {
	key := transporttest.NewKey()
	var frames []frame.Frame
	r, _ := listener(key, collector{&frames})
	next, err := r.top.Successor(r.top.At(1), "elsewhere", 2)
	if err != nil {
		t.Fatal(err)
	}
	r.top.Install(next)
	for _, c := range []struct {
		from, to           uint32
		delivered, refused int
	}{
		{1, 1, 0, 1}, {2, 1, 1, 0}, {3, 1, 0, 0}, {2, 2, 0, 1}, {2, 0, 1, 0}, {1, 0, 0, 1}, {0, 1, 0, 1},
	} {
		frames = nil
		refused := r.refused.Load()
		s := newSealer(&key, 2, newEpoch(c.from))
		r.datagramArrived(s.finish(frame.Append(s.begin(nil, c.to), 2, 1, []byte("x"))))
		if got := r.refused.Load() - refused; len(frames) != c.delivered || got != uint64(c.refused) {
			t.Errorf("from %d to %d: %d delivered, %d refused; want %d, %d", c.from, c.to, len(frames), got, c.delivered, c.refused)
		}
	}
	next.State.over = true
	refused := r.refused.Load()
	s := newSealer(&key, 2, newEpoch(2))
	r.datagramArrived(s.finish(frame.Append(s.begin(nil, 1), 2, 1, []byte("x"))))
	if r.refused.Load() != refused+1 {
		t.Error("a datagram of a process that was expelled is not refused")
	}
}

// What a wrapper has held back of one incarnation does not begin a link with the next.
func TestLinkEpochsTellIncarnationsApart(t *testing.T) {
	for range 100 {
		if e := linkEpoch(7); e == 0 || !draws(7, e) || draws(6, e) || draws(8, e) {
			t.Fatalf("%x", e)
		}
	}
}
