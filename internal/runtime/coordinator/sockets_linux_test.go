package coordinator

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
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

// listeningSockets counts the TCP sockets at which the processes listen.
func listeningSockets(t *testing.T, pids []int) int {
	t.Helper()
	return len(listeners(t, pids...))
}

func listeners(t *testing.T, pids ...int) (at []string) {
	t.Helper()
	for _, s := range openSockets(t, pids...) {
		if s.network == "tcp" {
			at = append(at, s.at.String())
		}
	}
	return at
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
			Algorithm: "ricart-agrawala", Nodes: 4, Transport: network, Duration: runs.Duration(300 * time.Millisecond),
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
	// What is seen of what others can reach.
	tcp, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	exposed := 0
	for _, s := range openSockets(t, os.Getpid()) {
		if !s.at.Addr().IsLoopback() {
			exposed++
		}
	}
	if exposed != 2 {
		t.Errorf("%d sockets are seen that others can reach, want 2", exposed)
	}
}

// A worker's port is filled with connections that say nothing, little, or garbage, from
// when it is there until the run is over.
func TestStrangersAtAWorkerDoNotDisturbARun(t *testing.T) {
	const strangers = 500
	atk := newAttack(t)
	defer atk.end()
	var first sync.Once
	r, err := execute(t, t.Context(), runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: 4, Duration: runs.Duration(2 * time.Second), CS: "0",
	}, Options{Started: func(p launch.Process) {
		first.Do(func() {
			atk.running.Go(func() {
				var at []string
				for len(at) == 0 && atk.ctx.Err() == nil { // it has just been started
					select {
					case <-p.Ended():
						return
					default:
					}
					own := listeners(t, os.Getpid()) // which it has, too, until it is a program of its own
					at = slices.DeleteFunc(listeners(t, p.PID()), func(a string) bool { return slices.Contains(own, a) })
				}
				if len(at) > 0 {
					atk.on(at[0], strangers)
				}
			})
		})
	}})
	atk.end()
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.OK || r.Entries == 0 || r.Messages.PerCS == nil || *r.Messages.PerCS != 6 || r.Safety.Violations != 0 {
		t.Errorf("status %s: %s; %d entries, %d violations", r.Status, r.Error, r.Entries, r.Safety.Violations)
	}
	if refused := atk.refused.Load(); r.Wire.Refused == 0 || refused == 0 {
		t.Errorf("%d refused, by the result; the strangers say %d", r.Wire.Refused, refused)
	}
}
