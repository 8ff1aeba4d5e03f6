package nats

import (
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// ended waits until a transport has told of its end, for each of its nodes, and
// checks that it refuses to send from then on.
func ended(t *testing.T, tr *Transport, e *transporttest.Events, why string) {
	t.Helper()
	for range tr.config.Local {
		if err := transporttest.Next(t, "Down", e.Downs); !strings.Contains(err.Error(), why) {
			t.Errorf("Down: %v; want %q", err, why)
		}
	}
	from := tr.config.Local[0]
	for name, err := range map[string]error{
		"Send": tr.Send(from, from, nil), "Broadcast": tr.Broadcast(from, nil), "Flush": tr.Flush(),
	} {
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v; want %q", name, err, why)
		}
	}
	tr.Close()
	if len(e.Downs) > 0 {
		t.Errorf("Down once more: %v", <-e.Downs)
	}
}

func TestABrokerThatDiesEndsEveryTransport(t *testing.T) {
	transporttest.NoLeaks(t)
	s := startServer(t)
	var es [2]*transporttest.Events
	all := mesh(t, s.Broker(), defaultLimits(4), 2, 2, func(p int) transport.Handler {
		es[p] = transporttest.NewEvents()
		return es[p]
	})
	mustSend(t, all[0], 1, 3, "hello")
	transporttest.Next(t, "a frame", es[1].Frames)
	s.Close()
	for p, tr := range all {
		ended(t, tr, es[p], "connection to the broker at nats://127.0.0.1")
	}
}

// A process that takes nothing while others send more than there is room for
// must not go on with what is left of it.
func TestASlowConsumerEndsInsteadOfLosing(t *testing.T) {
	transporttest.NoLeaks(t)
	l := defaultLimits(3)
	l.inbox = 16
	gate, inside := make(chan struct{}), make(chan struct{}, 1000)
	slow := transporttest.NewEvents()
	all := mesh(t, startServer(t).Broker(), l, 3, 1, func(p int) transport.Handler {
		if p > 0 {
			return transporttest.NewEvents()
		}
		return handler{
			frame: func(from, to dme.NodeID, b []byte) {
				inside <- struct{}{}
				<-gate
				slow.Frame(from, to, b)
			},
			down: slow.Down,
		}
	})
	mustSend(t, all[1], 2, 1, "first")
	transporttest.Next(t, "the first frame", inside)
	for range 20 {
		mustSend(t, all[1], 2, 1, "many")
		mustSend(t, all[2], 3, 1, "many")
	}
	if err := transporttest.Next(t, "Down", slow.Downs); !strings.Contains(err.Error(), "slow consumer") {
		t.Errorf("Down: %v", err)
	}
	if err := all[0].Send(1, 2, nil); err == nil || !strings.Contains(err.Error(), "slow consumer") {
		t.Errorf("Send: %v", err)
	}
	close(gate)
	all[0].Close()
	if n := len(slow.Frames); n != 1 {
		t.Errorf("%d frames were delivered, want only that before the end", n)
	}
}

// What is missing is noticed before anything that came after it is delivered.
func TestALostFrameEndsTheTransport(t *testing.T) {
	lose := map[string]func(tr *Transport){
		"a frame":     func(tr *Transport) { tr.life.Top().Of(2).State.out.number++ },
		"a broadcast": func(tr *Transport) { tr.broadcasts++ },
	}
	for name, lost := range lose {
		t.Run(name, func(t *testing.T) {
			transporttest.NoLeaks(t)
			e := transporttest.NewEvents()
			all := mesh(t, startServer(t).Broker(), defaultLimits(2), 2, 1, func(p int) transport.Handler {
				if p == 0 {
					return handler{}
				}
				return e
			})
			say := func(what string) {
				mustSend(t, all[0], 1, 2, what)
				if err := all[0].Broadcast(1, []byte(what+" to all")); err != nil {
					t.Fatal(err)
				}
			}
			say("before")
			transporttest.Next(t, "a frame", e.Frames)
			transporttest.Next(t, "a broadcast", e.Frames)
			all[0].mu.Lock()
			lost(all[0])
			all[0].mu.Unlock()
			say("after")
			ended(t, all[1], e, "lost 1 messages from node 1")
			for len(e.Frames) > 0 {
				if f := <-e.Frames; name == "a frame" || f != "1>2 after" {
					t.Errorf("%q was delivered", f)
				}
			}
		})
	}
}

// The sequencer's end is told to who started it; a broadcast that it has lost is
// noticed by everybody.
func TestTheSequencersEnds(t *testing.T) {
	transporttest.NoLeaks(t)
	server := startServer(t)
	b := server.Broker()
	b.Sequenced = true
	end := make(chan error, 10)
	s, err := StartSequencer(testKey, b, func(err error) { end <- err })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	e := transporttest.NewEvents()
	all := mesh(t, b, defaultLimits(1), 1, 1, func(int) transport.Handler {
		return handler{own: func(from dme.NodeID, b []byte) { e.Frame(from, from, b) }, down: e.Down}
	})
	say := func() {
		if err := all[0].Broadcast(1, []byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	say()
	if f := transporttest.Next(t, "one's own broadcast", e.Frames); f != "1>1 hello" {
		t.Errorf("%q", f)
	}
	all[0].mu.Lock()
	s.order += 2 // the sequencer rests: what it was sent has come back
	all[0].mu.Unlock()
	say()
	ended(t, all[0], e, "lost 2 messages from the sequencer")
	server.Close()
	if err := transporttest.Next(t, "the end of the sequencer", end); !strings.Contains(err.Error(), "sequencer") {
		t.Error(err)
	}
}

func TestStartTellsWhatEndedItBefore(t *testing.T) {
	transporttest.NoLeaks(t)
	s := startServer(t)
	tr, err := Listen(transport.Config{Local: []dme.NodeID{1}, Nodes: 1, Key: testKey}, s.Broker())
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s.Close()
	transporttest.Eventually(t, "the end of the connection", func() bool { return tr.cause.Load() != nil })
	if err := tr.Start(transport.AddressBook{tr.Addr()}, handler{}); err == nil || !strings.Contains(err.Error(), "is lost") {
		t.Error(err)
	}
}

// Where there is no room for what wakes the delivering goroutine, it sees for
// itself that the transport closes.
func TestCloseWithAFullInbox(t *testing.T) {
	transporttest.NoLeaks(t)
	l := defaultLimits(2)
	l.inbox = 4
	gate, inside := make(chan struct{}), make(chan struct{}, 1000)
	all := mesh(t, startServer(t).Broker(), l, 2, 1, func(int) transport.Handler {
		return handler{frame: func(_, _ dme.NodeID, _ []byte) {
			inside <- struct{}{}
			<-gate
		}}
	})
	mustSend(t, all[0], 1, 2, "first")
	transporttest.Next(t, "the first frame", inside)
	for range l.inbox {
		mustSend(t, all[0], 1, 2, "many")
	}
	transporttest.Eventually(t, "a full inbox", func() bool { return len(all[1].inbox) == l.inbox })
	closed := make(chan error, 1)
	go func() { closed <- all[1].Close() }()
	transporttest.Next(t, "Close to begin", all[1].leaving.Done())
	close(gate)
	if err := transporttest.Next(t, "Close to return", closed); err != nil {
		t.Error(err)
	}
	if n := len(inside); n > 0 {
		t.Errorf("%d more frames were delivered after Close began", n)
	}
}
