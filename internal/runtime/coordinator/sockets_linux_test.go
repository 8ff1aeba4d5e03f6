package coordinator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/runs"
)

// openSockets lists the addresses of what a process holds, as the kernel writes them: TCP
// sockets that listen, and UDP sockets that are bound; and counts them by network.
func openSockets(t *testing.T, pid int, count map[string]int) (addresses []string) {
	t.Helper()
	held := make(map[string]bool)
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil {
			held[target] = true
		}
	}
	const listens, unconnected = "0A", "07" // of UDP
	for network, state := range map[string]string{"tcp": listens, "tcp6": listens, "udp": unconnected, "udp6": unconnected} {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, network))
		if err != nil && !strings.HasSuffix(network, "6") { // a host may be without it
			t.Fatal(err)
		}
		for line := range strings.Lines(string(table)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == state && held["socket:["+f[9]+"]"] {
				addresses = append(addresses, f[1])
				count[network[:3]]++
			}
		}
	}
	return addresses
}

// loopback are the beginnings of its addresses, in words of 32 bits in the order of the
// machine, which is little-endian wherever these tests run.
var loopback = []string{"0100007F:", "00000000000000000000000001000000:", "0000000000000000FFFF00000100007F:"}

// Other hosts can call nowhere in a run on this host: every socket of every process is
// bound to the loopback.
func TestARunListensOnTheLoopbackAlone(t *testing.T) {
	for network, want := range map[string]map[string]int{ // sockets at least, by network
		"tcp": {"tcp": 4 + 1}, "udp": {"tcp": 1, "udp": 4}, "nats": {"tcp": 2},
	} {
		workers := &recorder{}
		var seen []string
		count := make(map[string]int)
		r := mustEnd(t, runs.Spec{
			Algorithm: "ricart-agrawala", Nodes: 4, Transport: network, CS: "1ms", Duration: runs.Duration(300 * time.Millisecond),
		}, Options{
			Started: workers.started,
			Progress: onFirstEntries(func() {
				for _, pid := range append(workers.pids(), os.Getpid()) {
					seen = append(seen, openSockets(t, pid, count)...)
				}
			}),
		})
		for _, at := range seen {
			if !slices.ContainsFunc(loopback, func(begins string) bool { return strings.HasPrefix(at, begins) }) {
				t.Errorf("over %s: a socket is bound to %s", network, at)
			}
		}
		for kind, n := range want {
			if count[kind] < n {
				t.Errorf("over %s: %d sockets of %s were seen, want %d at least", network, count[kind], kind, n)
			}
		}
		if r.Status != runs.OK {
			t.Errorf("over %s: %s: %s", network, r.Status, r.Error)
		}
	}
}
