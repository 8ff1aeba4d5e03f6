package tcp

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// A mesh that is closed in good order, one by one or at once, leaves nothing in
// TIME_WAIT, and has counted the segments that it sent.
func TestNoTimeWait(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads Linux's table of sockets")
	}
	for _, c := range []struct {
		atOnce bool
		Options
	}{{false, Options{}}, {true, Options{}}, {true, Options{On}}} {
		before := timeWaits(t)
		const n = 4
		var mesh []*Transport
		var book transport.AddressBook
		ports := make(map[string]bool)
		for i := range n {
			tr := mustListen(t, transport.Config{
				Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: n, Key: testKey, Peers: []dme.NodeID{1, 2, 3, 4},
			}, c.Options)
			mesh, book = append(mesh, tr), append(book, tr.Addr())
			ports[fmt.Sprintf("%04X", tr.listener.Addr().(*net.TCPAddr).Port)] = true
		}
		var closes sync.WaitGroup
		for _, tr := range mesh {
			if err := tr.Start(book, transporttest.NewEvents()); err != nil {
				t.Fatal(err)
			}
		}
		for _, tr := range mesh {
			closes.Go(func() { tr.Close() })
			if !c.atOnce {
				closes.Wait()
			}
		}
		closes.Wait()
		for _, tr := range mesh {
			if n := tr.Counters().Packets; n == 0 {
				t.Error("no segments by the counters")
			}
		}
		for pair := range timeWaits(t) {
			// A port may have been another connection's not long ago.
			_, local, _ := strings.Cut(pair[0], ":")
			_, remote, _ := strings.Cut(pair[1], ":")
			if (ports[local] || ports[remote]) && !before[pair] {
				t.Errorf("in TIME_WAIT: %s to %s", pair[0], pair[1])
			}
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
