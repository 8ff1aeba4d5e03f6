package coordinator

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dmebench/runs"
)

// open is a socket at which somebody else could call.
type open struct {
	network string
	at      netip.AddrPort
}

// openSockets lists what the processes hold, as the kernel tells: TCP sockets that
// listen, and UDP sockets that are bound.
func openSockets(t *testing.T, pids ...int) (all []open) {
	t.Helper()
	const listens, unconnected = "0A", "07" // of UDP
	for _, pid := range pids {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			t.Fatal(err)
		}
		held := make(map[string]bool)
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil {
				held[target] = true
			}
		}
		for network, state := range map[string]string{"tcp": listens, "tcp6": listens, "udp": unconnected, "udp6": unconnected} {
			table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, network))
			if os.IsNotExist(err) && strings.HasSuffix(network, "6") {
				continue // a host without it
			}
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(table)) {
				if f := strings.Fields(line); len(f) > 9 && f[3] == state && held["socket:["+f[9]+"]"] {
					all = append(all, open{network[:3], address(t, f[1])})
				}
			}
		}
	}
	return all
}

// address reads how the kernel writes one: words of 32 bits in the order of the machine,
// which is little-endian wherever these tests run.
func address(t *testing.T, s string) netip.AddrPort {
	t.Helper()
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	n, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(b)%4 != 0 {
		t.Fatalf("the kernel writes an address as %q", s)
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	ip, ok := netip.AddrFromSlice(b)
	if !ok {
		t.Fatalf("the kernel writes an address as %q", s)
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n))
}

// Other hosts can call nowhere in a run on this host: every socket of every process is
// bound to the loopback.
func TestARunListensOnTheLoopbackAlone(t *testing.T) {
	for network, want := range map[string]map[string]int{ // sockets at least, by network
		"tcp": {"tcp": 4 + 1}, "udp": {"tcp": 1, "udp": 4}, "nats": {"tcp": 2},
	} {
		workers := &recorder{}
		var seen []open
		r, err := execute(t, t.Context(), runs.Spec{
			Algorithm: "ricart-agrawala", Nodes: 4, Transport: network, CS: "1ms", Duration: runs.Duration(300 * time.Millisecond),
		}, Options{
			Started:  workers.started,
			Progress: onFirstEntries(func() { seen = openSockets(t, append(workers.pids(), os.Getpid())...) }),
		})
		if err != nil {
			t.Fatal(err)
		}
		count := make(map[string]int)
		for _, s := range seen {
			count[s.network]++
			if !s.at.Addr().IsLoopback() {
				t.Errorf("over %s: a socket is bound to %s %v", network, s.network, s.at)
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
