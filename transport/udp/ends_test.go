package udp

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// muted is a wrapper that loses everything once it is told to.
type muted struct {
	transport.Transport
	mute *atomic.Bool
}

func (m muted) Send(from, to dme.NodeID, b []byte) error {
	if m.mute.Load() {
		return nil
	}
	return m.Transport.Send(from, to, b)
}

// silenced opens processes of the given numbers of nodes, of which the second
// falls silent when told to: nothing that it sends arrives any more.
func silenced(t *testing.T, l limits, h func(process int) transport.Handler, nodes ...int) (ts []*Transport, mute *atomic.Bool) {
	mute = new(atomic.Bool)
	options := func(process int) (o Options) {
		if process == 1 {
			o.Between = func(tr transport.Transport) transport.Transport { return muted{tr, mute} }
		}
		return o
	}
	return openAll(t, l, options, transporttest.NewKey(), h, nodes...), mute
}

// No port is closed here: the process is there, and nothing is heard of it.
func TestSilenceIsDeath(t *testing.T) {
	for _, c := range []struct {
		name    string
		waiting bool // data wait for an acknowledgement
	}{{"while data wait", true}, {"between two frames", false}} {
		t.Run(c.name, func(t *testing.T) {
			noLeaks(t)
			l := patient(transporttest.Knobs{})
			l.silence, l.idle, l.drain, l.tries = time.Second, 50*time.Millisecond, 100*time.Millisecond, 3
			js := []*journal{newJournal(), newJournal(), newJournal()}
			ts, mute := silenced(t, l, func(i int) transport.Handler { return js[i] }, 1, 2, 1)
			send := func(tr *Transport, from, to dme.NodeID) {
				t.Helper()
				if err := tr.Send(from, to, []byte("x")); err != nil {
					t.Fatal(err)
				}
				tr.Flush()
			}
			send(ts[0], 1, 2)
			send(ts[0], 1, 4)
			send(ts[1], 3, 1)
			js[1].wait(t, "a frame", func() bool { return len(js[1].frames) == 1 })
			js[2].wait(t, "a frame", func() bool { return len(js[2].frames) == 1 })
			js[0].wait(t, "a frame", func() bool { return len(js[0].frames) == 1 })
			mute.Store(true)
			if c.waiting {
				send(ts[0], 1, 2)
			}
			js[0].wait(t, "Down", func() bool { return len(js[0].downs) == 2 })
			for range 5 {
				send(ts[0], 1, 3) // to the dead, which is no error
			}
			send(ts[0], 1, 4)
			js[2].wait(t, "a frame", func() bool { return len(js[2].frames) == 2 })
			begin := time.Now()
			ts[0].Close()
			slices.Sort(js[0].downs)
			if !slices.Equal(js[0].downs, []dme.NodeID{2, 3}) {
				t.Errorf("Down of %v, want once for 2 and 3", js[0].downs)
			}
			if err := js[0].cause; err == nil || !strings.Contains(err.Error(), "silent for ") {
				t.Errorf("%v", err)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

// A process that is never there: there is a socket, but nobody reads it.
func TestNoAnswerToAHello(t *testing.T) {
	noLeaks(t)
	l := patient(transporttest.Knobs{})
	l.silence, l.tries = 500*time.Millisecond, 3
	other, err := listenRaw(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{2}, Nodes: 2, Key: transport.Key{1}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tr, err := listen(transport.Config{
		Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: transport.Key{1}, Peers: []dme.NodeID{2},
	}, Options{}, l)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	j := newJournal()
	if err := tr.Start(transport.AddressBook{tr.Addr(), other.Addr()}, j); err != nil {
		t.Fatal(err)
	}
	j.wait(t, "Down", func() bool { return len(j.downs) == 1 })
	if !strings.Contains(j.cause.Error(), "silent for ") || !strings.Contains(j.cause.Error(), "node 2") {
		t.Errorf("%v", j.cause)
	}
}

// While a handler stands still its process acknowledges nothing, and is not
// dead for it as long as it is patient enough. Close does not wait for ever for
// such a process.
func TestCloseIsBounded(t *testing.T) {
	noLeaks(t)
	l := patient(transporttest.Knobs{})
	l.drain = 200 * time.Millisecond
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	stuck := stuckHandler{gate, make(chan struct{}, 1)}
	j := newJournal()
	ts, _ := silenced(t, l, func(i int) transport.Handler {
		if i == 1 {
			return stuck
		}
		return j
	}, 1, 1)
	if err := ts[0].Send(1, 2, []byte("x")); err != nil {
		t.Fatal(err)
	}
	ts[0].Flush()
	<-stuck.entered
	ts[0].Close()
	if err := ts[0].Send(1, 2, nil); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Send after Close: %v", err)
	}
	if len(j.downs) > 0 {
		t.Errorf("Down of %v because of Close", j.downs)
	}
	open()
}

type stuckHandler struct{ gate, entered chan struct{} }

func (h stuckHandler) Frame(_, _ dme.NodeID, _ []byte) {
	select {
	case h.entered <- struct{}{}:
	default:
	}
	<-h.gate
}
func (h stuckHandler) Down(dme.NodeID, error) {}

func TestMisconfiguration(t *testing.T) {
	noLeaks(t)
	good := transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: transport.Key{1}}
	for name, o := range map[string]Options{
		"an unknown layer": {Layer: "perfect"},
		"tiny datagrams":   {Datagram: 100},
		"huge datagrams":   {Datagram: 70_000},
	} {
		if tr, err := Listen(good, o); err == nil {
			tr.Close()
			t.Errorf("%s: no error", name)
		}
	}
	for _, address := range []string{"x:y", "[::1]:9"} {
		tr, err := Listen(good, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Start(transport.AddressBook{tr.Addr(), address}, newJournal()); err == nil {
			t.Errorf("an address book with %s: no error", address)
		}
		tr.Close()
	}
}
