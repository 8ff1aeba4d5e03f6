package transporttest

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/transport"
)

// peerCommand is the only argument of a test binary that is to be a peer of a
// test. An ordinary run refuses it as an unknown flag, rather than run the tests
// again where TestMain does not call [Main].
const peerCommand = "-transporttest-peer"

// peerOrder is what a peer is told first. It answers with its address.
type peerOrder struct {
	Subject string
	Config  transport.Config
	Talks   bool // sends a frame to node 1 from each of its nodes, unasked
	Echoes  bool // sends each frame back

	Acts  bool   // it is an actor, and none of this
	Knobs Knobs  // an actor's
	Reach string // for the Subject's Remote
}

// Main runs a package's tests, or a peer of a test where this process was
// started as one. Its result is the exit code.
func Main(m *testing.M, subjects ...Subject) int {
	if !launch.Is(os.Args, peerCommand) {
		return m.Run()
	}
	if err := servePeer(subjects, launch.NewParent(os.Stdin, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "transporttest:", err)
		return 1
	}
	return 0
}

// servePeer is a peer process: order in, address out, book in; from then on the
// number of the receiver of each frame out, until it is told to leave.
func servePeer(subjects []Subject, parent *launch.Parent) error {
	var order peerOrder
	if err := parent.Receive(&order); err != nil {
		return err
	}
	i := slices.IndexFunc(subjects, func(s Subject) bool { return s.Name == order.Subject })
	if i < 0 {
		return fmt.Errorf("no subject %q", order.Subject)
	}
	if order.Acts {
		return serveActor(subjects[i], order, parent)
	}
	tr, err := subjects[i].Open(order.Config, Knobs{})
	if err != nil {
		return err
	}
	defer tr.Close()
	if err := parent.Send(tr.Addr()); err != nil {
		return err
	}
	var book transport.AddressBook
	if err := parent.Receive(&book); err != nil {
		return err
	}
	var mu sync.Mutex
	err = tr.Start(book, handler{frame: func(from, to dme.NodeID, b []byte) {
		if order.Echoes {
			tr.Send(to, from, b)
		}
		mu.Lock()
		defer mu.Unlock()
		parent.Send(to)
	}})
	if err != nil {
		return err
	}
	if order.Talks {
		for _, from := range order.Config.Local {
			if err := tr.Send(from, 1, []byte("hello")); err != nil {
				return err
			}
		}
		tr.Flush()
	}
	parent.Wait()
	return nil
}

// startPeer starts a peer process and returns it with its address.
func startPeer(t *testing.T, s Subject, order peerOrder) (peer *launch.Child, addr string) {
	t.Helper()
	order.Subject = s.Name
	peer, err := launch.Local{Answers: true}.Start(launch.Command{Word: peerCommand, Name: "the peer process", Config: order})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { launch.End(0, peer) })
	if err := peer.Receive(t.Context(), &addr); err != nil {
		t.Fatalf("no address: %v; does TestMain call transporttest.Main?", err)
	}
	return peer, addr
}

// testDeath kills peer processes that have connections from, to, and both from
// and to this one. Each must be noticed, once for each node, and no other.
func testDeath(t *testing.T, s Subject) {
	for _, c := range []struct {
		name                string
		sends, talks, echos bool
	}{
		{"we send", true, false, false},
		{"it sends", false, true, false},
		{"both send", true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := NewKey()
			config := func(ids ...dme.NodeID) transport.Config {
				return transport.Config{Listen: "127.0.0.1:0", Local: ids, Nodes: 3, Key: key}
			}
			tr, err := s.Open(config(1), Knobs{Silence: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			peer, addr := startPeer(t, s, peerOrder{Config: config(2, 3), Talks: c.talks, Echoes: c.echos})
			book := transport.AddressBook{tr.Addr(), addr, addr}

			arrived := make(chan dme.NodeID, 10)
			down := make(chan dme.NodeID, 10)
			if err := tr.Start(book, handler{
				func(from, _ dme.NodeID, _ []byte) { arrived <- from },
				func(peer dme.NodeID, err error) {
					if err == nil {
						t.Error("Down without an error")
					}
					down <- peer
				},
			}); err != nil {
				t.Fatal(err)
			}
			peer.Send(book)
			if c.sends {
				if err := tr.Send(1, 2, []byte("hello")); err != nil {
					t.Fatal(err)
				}
				tr.Flush()
				var to dme.NodeID
				if err := peer.Receive(t.Context(), &to); err != nil {
					t.Fatalf("it has received nothing: %v", err)
				}
			}
			if c.talks || c.echos {
				await(t, s, "a frame of the peer process", arrived)
			}
			peer.Kill()
			times := make(map[dme.NodeID]int)
			times[await(t, s, "Down", down)]++
			times[await(t, s, "Down", down)]++
			for range 10 {
				// To the dead, which is no error.
				if err := tr.Send(1, 2, []byte("hello")); err != nil {
					t.Errorf("Send to a dead node: %v", err)
				}
				tr.Flush()
			}
			tr.Close()
			close(down)
			for peer := range down {
				times[peer]++
			}
			if len(times) != 2 || times[2] != 1 || times[3] != 1 {
				t.Errorf("Down was called so often, by node: %v; want once for 2 and 3", times)
			}
		})
	}
}
