package nats

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// A broadcast is one publication, which all nodes but its sender receive, those
// of the sender's process too.
func TestBroadcastIsOnePublication(t *testing.T) {
	transporttest.NoLeaks(t)
	b := startServer(t).Broker()
	e := transporttest.NewEvents()
	all := mesh(t, b, defaultLimits(6), 3, 2, func(int) transport.Handler { return e })
	before := all[1].conn.Stats().OutMsgs
	if err := all[1].Broadcast(3, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 5 {
		got = append(got, transporttest.Next(t, "a broadcast", e.Frames))
	}
	slices.Sort(got)
	if want := []string{"3>1 hello", "3>2 hello", "3>4 hello", "3>5 hello", "3>6 hello"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := all[1].conn.Stats().OutMsgs - before; n != 1 {
		t.Errorf("%d publications", n)
	}
	if c := all[1].Counters(); c.Frames != 5 {
		t.Errorf("%d frames by the counters, want one for each of 5 receivers", c.Frames)
	}
	// A frame is counted when the handler has returned.
	transporttest.Eventually(t, "the frame that came here to be counted", func() bool { return all[1].Counters().Received == 1 })
}

// said is one frame of a run in which nodes broadcast and send to one another.
type said struct {
	from   dme.NodeID
	number uint32 // among all that it says
	toAll  bool
}

// converse lets every node of a mesh, one in each process, say much at once, some of it
// to all and some to its neighbour, and returns what each node heard, its own broadcasts
// among it.
func converse(t testing.TB, b Broker, n, each int) [][]said {
	heard := make([][]said, n+1)
	var left sync.WaitGroup
	expected := make([]int, n+1)
	for id := range expected[1:] {
		// Of each node's words, every third goes to one neighbour and not to all.
		toAll := each - each/3
		expected[id+1] = n*toAll + each/3
		left.Add(1)
	}
	// The frames of a process come one after the other, so a node's list needs
	// no lock.
	hear := func(to, from dme.NodeID, body []byte) {
		w := binary.LittleEndian.Uint32(body)
		heard[to] = append(heard[to], said{from, w >> 1, w&1 == 1})
		if len(heard[to]) == expected[to] {
			left.Done()
		}
	}
	all := mesh(t, b, defaultLimits(n), n, 1, func(int) transport.Handler {
		return handler{
			frame: func(from, to dme.NodeID, b []byte) { hear(to, from, b) },
			own:   func(from dme.NodeID, b []byte) { hear(from, from, b) },
			down:  func(_ dme.NodeID, err error) { t.Error(err) },
		}
	})
	var speakers sync.WaitGroup
	for p, tr := range all {
		me := dme.NodeID(p + 1)
		speakers.Go(func() {
			for k := range uint32(each) {
				var err error
				if k%3 == 2 {
					err = tr.Send(me, me%dme.NodeID(n)+1, binary.LittleEndian.AppendUint32(nil, k<<1))
				} else {
					err = tr.Broadcast(me, binary.LittleEndian.AppendUint32(nil, k<<1|1))
				}
				if err != nil {
					t.Error(err)
					left.Done() // it will not be complete
					return
				}
			}
		})
	}
	speakers.Wait()
	complete := make(chan struct{})
	go func() { left.Wait(); close(complete) }()
	transporttest.Next(t, "all words", complete)
	for _, tr := range all {
		tr.Close()
	}
	return heard
}

// With a sequencer, all nodes hear all broadcasts in one order, their own
// included.
func TestOneOrderOfAllBroadcasts(t *testing.T) {
	transporttest.NoLeaks(t)
	b := startServer(t).Broker()
	b.Sequenced = true
	s, err := StartSequencer(testKey, b, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	heard := converse(t, b, 6, 1500)
	first := broadcasts(heard[1])
	for id, words := range heard[2:] {
		if !slices.Equal(broadcasts(words), first) {
			t.Errorf("nodes 1 and %d heard %d broadcasts in different orders", id+2, len(first))
		}
	}
	if len(first) != 6*1000 {
		t.Errorf("%d broadcasts were heard", len(first))
	}
}

func broadcasts(words []said) []said {
	return slices.DeleteFunc(slices.Clone(words), func(w said) bool { return !w.toAll })
}
