package udp

import (
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// A flood of datagrams without the key, of every kind that a stranger may think
// of, is counted, reaches nobody and keeps nobody from talking.
func TestFloodOfStrangers(t *testing.T) {
	for _, l := range Layers() {
		t.Run(string(l), func(t *testing.T) {
			noLeaks(t)
			j := newJournal()
			ts := openPair(t, Options{Layer: l}, j)
			stranger, err := net.Dial("udp", ts[1].Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer stranger.Close()
			kinds := slices.Collect(maps.Values(strangers(rand.New(rand.NewPCG(1, 2)))))
			const flood = 3000
			for i := range flood {
				b := kinds[i%len(kinds)]()
				if _, err := stranger.Write(b); err != nil {
					t.Fatal(err)
				}
				if i%100 == 0 {
					if err := ts[0].Send(1, 2, []byte("genuine")); err != nil {
						t.Fatal(err)
					}
					ts[0].Flush()
				}
			}
			j.wait(t, "the refusals", func() bool {
				c := ts[1].Counters()
				return c.RefusedFrames+c.KernelDrops >= flood && (l == Raw || len(j.frames) == flood/100)
			})
			for _, f := range j.frames {
				if f != "genuine" {
					t.Errorf("delivered: %q", f)
				}
			}
			if len(j.downs) > 0 {
				t.Errorf("down: %v", j.downs)
			}
		})
	}
}

// relay passes datagrams on to a process, and remembers them.
type relay struct {
	conn *net.UDPConn
	done chan struct{}

	mu       sync.Mutex
	to       net.Addr
	recorded [][]byte
}

func newRelay(t *testing.T) *relay {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{conn: conn, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		b := make([]byte, 1<<16)
		for {
			n, _, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			r.mu.Lock()
			r.recorded = append(r.recorded, append([]byte(nil), b[:n]...))
			to := r.to
			r.mu.Unlock()
			conn.WriteTo(b[:n], to)
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-r.done
	})
	return r
}

func (r *relay) direct(t *testing.T, addr string) {
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
}

// Two processes talk, and node 2's is then restarted with the run's key, as
// is node 1's. Whatever the earlier ones have sent comes again: nothing of it is
// taken, and the new ones understand each other.
func TestDatagramsOfThePastAreNotTaken(t *testing.T) {
	for _, l := range []Layer{Reliable, FIFO} {
		t.Run(string(l), func(t *testing.T) {
			noLeaks(t)
			key := transporttest.NewKey()
			way := newRelay(t)
			life := func(word string, meanwhile func()) (received *journal, refused uint64) {
				j := newJournal()
				var ts [2]*Transport
				for i := range ts {
					var err error
					ts[i], err = listen(transport.Config{
						Listen: "127.0.0.1:0", Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: 2, Key: key,
					}, Options{Layer: l}, patient(transporttest.Knobs{}))
					if err != nil {
						t.Fatal(err)
					}
					defer ts[i].Close()
				}
				way.direct(t, ts[1].Addr())
				via := way.conn.LocalAddr().String()
				if err := ts[0].Start(transport.AddressBook{ts[0].Addr(), via}, newJournal()); err != nil {
					t.Fatal(err)
				}
				if err := ts[1].Start(transport.AddressBook{ts[0].Addr(), ts[1].Addr()}, j); err != nil {
					t.Fatal(err)
				}
				meanwhile()
				for range 20 {
					if err := ts[0].Send(1, 2, []byte(word)); err != nil {
						t.Fatal(err)
					}
					ts[0].Flush()
				}
				j.wait(t, word, func() bool { return len(j.frames) >= 20 })
				meanwhile()
				return j, ts[1].Counters().RefusedFrames
			}
			life("past", func() {})
			way.mu.Lock()
			past := way.recorded
			way.mu.Unlock()
			again := func() {
				for _, b := range past {
					way.conn.WriteTo(b, way.to)
				}
			}
			j, refused := life("present", again)
			if len(j.frames) != 20 || len(j.downs) > 0 {
				t.Errorf("%q, down %v", j.frames, j.downs)
			}
			for _, f := range j.frames {
				if f != "present" {
					t.Errorf("%q is delivered", f)
				}
			}
			if refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
}

// A process that is restarted at its old address does not pass for the one
// that died there.
func TestASuccessorIsRefused(t *testing.T) {
	noLeaks(t)
	key := transporttest.NewKey()
	j := newJournal()
	start := func(id dme.NodeID, addr string, other string, h transport.Handler) *Transport {
		l := patient(transporttest.Knobs{})
		l.drain = 100 * time.Millisecond // nobody answers the two at the end
		tr, err := listen(transport.Config{Listen: addr, Local: []dme.NodeID{id}, Nodes: 2, Key: key}, Options{}, l)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		book := transport.AddressBook{tr.Addr(), other}
		if id == 2 {
			book = transport.AddressBook{other, tr.Addr()}
		}
		if err := tr.Start(book, h); err != nil {
			t.Fatal(err)
		}
		return tr
	}
	// The address of node 2, which is not there yet.
	probe, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	addr := probe.LocalAddr().String()
	probe.Close()
	one := start(1, "127.0.0.1:0", addr, j)
	first := start(2, addr, one.Addr(), newJournal())
	if err := first.Send(2, 1, []byte("first")); err != nil {
		t.Fatal(err)
	}
	first.Flush()
	j.wait(t, "the first frame", func() bool { return len(j.frames) == 1 })
	first.socket.close() // dies without a farewell
	refused := one.Counters().RefusedFrames
	second := start(2, addr, one.Addr(), newJournal())
	if err := second.Send(2, 1, []byte("second")); err != nil {
		t.Fatal(err)
	}
	second.Flush()
	j.wait(t, "the refusal", func() bool { return one.Counters().RefusedFrames > refused })
	if len(j.frames) != 1 {
		t.Errorf("%q", j.frames)
	}
}
