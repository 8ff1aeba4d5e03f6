package udp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// crackling is a wrapper of the raw layer at whose receivers, each on its own,
// frames get lost, come twice and overtake each other, broadcasts like others.
type crackling struct {
	transport.Transport
	transport.Broadcaster
}

func crackle(t transport.Transport) transport.Transport {
	return crackling{t, t.(transport.Broadcaster)}
}

func (c crackling) Start(book transport.AddressBook, h transport.Handler) error {
	return c.Transport.Start(book, &cracklingHandler{Handler: h, r: rand.New(rand.NewPCG(1, 2))})
}

type cracklingHandler struct {
	transport.Handler

	mu   sync.Mutex
	r    *rand.Rand
	held *peers.Frame // comes after the next one
}

func (h *cracklingHandler) Frame(from, to dme.NodeID, b []byte) {
	h.mu.Lock()
	fate, held := h.r.IntN(100), h.held
	h.held = nil
	if fate >= 10 && fate < 20 && held == nil {
		h.held = &peers.Frame{From: from, To: to, Body: bytes.Clone(b)}
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	if fate >= 5 { // else it is lost
		h.Handler.Frame(from, to, b)
	}
	if fate >= 95 {
		h.Handler.Frame(from, to, b)
	}
	if held != nil {
		h.Handler.Frame(held.From, held.To, held.Body)
	}
}

func onlyLinux(t testing.TB) {
	if runtime.GOOS != "linux" {
		t.Skip("no multicast here")
	}
}

// meshed opens and starts processes of some nodes each, all with one handler.
func meshed(t testing.TB, processes, perProcess int, o Options, h transport.Handler) []*Transport {
	t.Helper()
	nodes := slices.Repeat([]int{perProcess}, processes)
	return openAll(t, patient(transporttest.Knobs{}), func(int) Options { return o }, transporttest.NewKey(),
		func(int) transport.Handler { return h }, nodes...)
}

// warm makes all links of the first process, by frames that it waits for.
func warm(t testing.TB, ts []*Transport, nodes int, arrived func(int)) {
	t.Helper()
	for to := 2; to <= nodes; to++ {
		if err := ts[0].Send(1, dme.NodeID(to), []byte("warm")); err != nil {
			t.Fatal(err)
		}
	}
	ts[0].Flush()
	arrived(nodes - 1)
}

// A broadcast is one datagram, whatever the number of processes, which all nodes
// but its sender receive.
func TestABroadcastIsOneDatagram(t *testing.T) {
	onlyLinux(t)
	for _, l := range Layers() {
		t.Run(string(l), func(t *testing.T) {
			noLeaks(t)
			const processes, perProcess, nodes = 8, 2, 16
			j := newJournal()
			ts := meshed(t, processes, perProcess, Options{Layer: l, Multicast: true}, j)
			count := 0
			wait := func(more int) {
				count += more
				j.wait(t, "frames", func() bool { return len(j.frames) >= count })
			}
			if l != Raw {
				warm(t, ts, nodes, wait)
			}
			const broadcasts = 20
			// An acknowledgement may be due meanwhile, and is a datagram too:
			// not for each broadcast.
			before := ts[0].Counters()
			for range broadcasts {
				if err := (Multicasting{ts[0]}).Broadcast(1, []byte("to all")); err != nil {
					t.Fatal(err)
				}
				ts[0].Flush()
				wait(nodes - 1)
			}
			c := ts[0].Counters().Minus(before)
			if c.Frames != broadcasts*(nodes-1) {
				t.Errorf("%d frames by the counters for %d broadcasts to %d nodes", c.Frames, broadcasts, nodes-1)
			}
			if c.Packets < broadcasts || c.Packets > 3*broadcasts+c.Retransmissions {
				t.Errorf("%d datagrams for %d broadcasts", c.Packets, broadcasts)
			}
			for _, tr := range ts {
				if c := tr.Counters(); c.RefusedFrames != 0 {
					t.Errorf("%d frames refused", c.RefusedFrames)
				}
			}
		})
	}
}

// Where there can be no multicast, the error says what to do.
func TestWhereMulticastIsRefused(t *testing.T) {
	for _, listenAt := range []string{"[::1]:0", "0.0.0.0:0", "[::]:0"} {
		probe, err := net.ListenPacket("udp", listenAt)
		if err != nil {
			continue // no IPv6 here
		}
		probe.Close()
		c := transport.Config{Listen: listenAt, Local: []dme.NodeID{1}, Nodes: 2, Key: transporttest.NewKey()}
		tr, err := Listen(c, Options{Multicast: true})
		if err == nil {
			tr.Close()
			t.Errorf("%s: no error", listenAt)
		} else if !strings.Contains(err.Error(), "multicast") || !strings.Contains(err.Error(), "listen") {
			t.Errorf("%s: %v", listenAt, err)
		}
	}
	if tr, err := Listen(transport.Config{
		Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: transporttest.NewKey(),
	}, Options{Multicast: true, Between: bad}); err == nil || !strings.Contains(err.Error(), "leave multicast out") {
		t.Errorf("with a wrapper that lets no broadcast through: %v", err)
		if err == nil {
			tr.Close()
		}
	}
}

// A broadcast that does not fit into a datagram goes in parts, and one whose
// receivers do not fit in several datagrams.
func TestBroadcastsOfAnySize(t *testing.T) {
	onlyLinux(t)
	for _, size := range []int{0, 1, 300, 340, 350, 400, 1000, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			noLeaks(t)
			const nodes = 12
			j := newJournal()
			ts := meshed(t, nodes, 1, Options{Multicast: true, datagram: 512}, j)
			count := 0
			wait := func(more int) {
				count += more
				j.wait(t, "frames", func() bool { return len(j.frames) >= count })
			}
			warm(t, ts, nodes, wait)
			j.mu.Lock()
			j.frames, count = nil, 0
			j.mu.Unlock()
			b := bytes.Repeat([]byte("x"), size)
			for range 3 {
				if err := (Multicasting{ts[0]}).Broadcast(1, b); err != nil {
					t.Fatal(err)
				}
				ts[0].Flush()
				wait(nodes - 1)
			}
			for _, f := range j.frames {
				if f != string(b) {
					t.Errorf("%d bytes have become %d", len(b), len(f))
				}
			}
		})
	}
}

// FuzzBroadcast reads anything for a broadcast: what is accepted for a process
// has a body and a number that a segment can have.
func FuzzBroadcast(f *testing.F) {
	f.Add([]byte{9, 1, 0, 7, 2, 'x'}, uint8(0))
	f.Add([]byte{9, 2, 1, 7, 5, 3, 8, 9, 'x'}, uint8(1))
	f.Add([]byte{9, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, process uint8) {
		var s, again segment
		mine, err := decodeBroadcast(b, uint64(process), &s)
		if err != nil || !mine {
			return
		}
		if err := decodeSegment(appendSegment(nil, &s), &again); err != nil || !equal(&s, &again) {
			t.Fatalf("%+v is written and read as %+v, %v", s, again, err)
		}
	})
}
