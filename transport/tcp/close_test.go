package tcp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// TestCloseDoesNotWaitForThePeer closes while a peer takes nothing and answers
// nothing.
func TestCloseDoesNotWaitForThePeer(t *testing.T) {
	tr, e, other := alone(t, defaultLimits())
	dialAs(t, tr, 3)
	body := make([]byte, 1<<20)
	for range 30 {
		if err := tr.Send(1, 3, body); err != nil {
			t.Fatal(err)
		}
	}
	acceptAs(t, other)
	tr.Flush()
	closed := make(chan error)
	go func() { closed <- tr.Close() }()
	if err := next(t, "Close", closed); err != nil {
		t.Error(err)
	}
	if len(e.Downs) > 0 {
		t.Errorf("because of Close: %v", <-e.Downs)
	}
}

// TestCloseBeforeStart closes with a peer that was welcomed and waits.
func TestCloseBeforeStart(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	tr, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 3, Key: testKey}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn := dialAs(t, tr, 3)
	if err := tr.Send(1, 2, nil); err == nil {
		t.Error("Send before Start: no error")
	}
	closed := make(chan error)
	go func() { closed <- tr.Close() }()
	word := make([]byte, len(peers.Goodbye))
	if _, err := io.ReadFull(conn, word); err != nil || string(word) != peers.Goodbye {
		t.Errorf("%q, %v; want a goodbye", word, err)
	}
	write(t, conn, word)
	next(t, "Close", closed)
	if err := tr.Start(transport.AddressBook{"a", "b", "c"}, transporttest.NewEvents()); err == nil {
		t.Error("Start after Close: no error")
	}
}

// TestNoTimeWait closes a mesh in good order and looks for what is left of it
// in the kernel.
func TestNoTimeWait(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads Linux's table of sockets")
	}
	t.Run("one by one", func(t *testing.T) {
		noTimeWait(t, func(mesh []*Transport) {
			for _, tr := range mesh {
				tr.Close()
			}
		})
	})
	t.Run("at once", func(t *testing.T) {
		noTimeWait(t, func(mesh []*Transport) {
			var wg sync.WaitGroup
			for _, tr := range mesh {
				wg.Go(func() { tr.Close() })
			}
			wg.Wait()
		})
	})
}

func noTimeWait(t *testing.T, closeAll func([]*Transport)) {
	before := timeWaits(t)
	const n = 4
	var open [n]*Transport
	var book transport.AddressBook
	ports := make(map[string]bool)
	for i := range open {
		tr, err := Listen(transport.Config{
			Listen: "127.0.0.1:0", Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: n,
			Key: testKey, Peers: []dme.NodeID{1, 2, 3, 4},
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		open[i] = tr
		book = append(book, tr.Addr())
		ports[fmt.Sprintf("%04X", tr.listener.Addr().(*net.TCPAddr).Port)] = true
	}
	for _, tr := range open {
		if err := tr.Start(book, transporttest.NewEvents()); err != nil {
			t.Fatal(err)
		}
	}
	closeAll(open[:])
	for pair := range timeWaits(t) {
		// A port may have been another connection's not long ago.
		_, local, _ := strings.Cut(pair[0], ":")
		_, remote, _ := strings.Cut(pair[1], ":")
		if (ports[local] || ports[remote]) && !before[pair] {
			t.Errorf("in TIME_WAIT: %s to %s", pair[0], pair[1])
		}
	}
}

// timeWaits returns the pairs of addresses that are in TIME_WAIT, as Linux
// writes them.
func timeWaits(t *testing.T) map[[2]string]bool {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	const state = "06"
	pairs := make(map[[2]string]bool)
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) > 3 && f[3] == state {
			pairs[[2]string{f[1], f[2]}] = true
		}
	}
	return pairs
}
