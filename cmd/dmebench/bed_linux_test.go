package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/runs"
)

// bed is several hosts: an agent on each but the last, where the broker is and the
// coordinators are.
type bed struct {
	*testkit.Testbed
	t       *testing.T
	program string
	agents  int
	dir     string // of the coordinators
	url     string
	files   []string // flags
	broker  *run
	offers  []*run // offers[i] is the agent that was started first on host i+1
}

// newBed makes the hosts, and starts a broker and the agents.
func newBed(t *testing.T, agents int, opts ...testkit.Option) *bed {
	t.Helper()
	return newBedOf(t, "dmebench", agents, opts...)
}

// newBedOf is newBed with one of the programs of TestMain.
func newBedOf(t *testing.T, program string, agents int, opts ...testkit.Option) *bed {
	t.Helper()
	b := &bed{Testbed: testkit.NewTestbed(t, agents+1, opts...), t: t, program: program, agents: agents, dir: t.TempDir()}
	last := b.Host(agents + 1)
	b.url = "tls://" + last.Address + ":4222"
	b.files = []string{"--creds", filepath.Join(b.dir, "broker", "creds")}
	b.serve()
	for i := 1; i <= agents; i++ {
		b.offers = append(b.offers, b.agent(i))
	}
	return b
}

// serve starts the broker, which has the same secrets each time.
func (b *bed) serve() {
	b.t.Helper()
	last, secrets := b.Host(b.agents+1), filepath.Join(b.dir, "broker")
	b.broker = startProgram(b.t, b.program, last.Command, b.dir, "broker", "--listen", last.Address+":4222", "--dir", secrets)
	b.await("the broker", b.broker, func() bool { return connect(last, last.Address, 4222) == "" })
}

// agent starts the agent of a host, which waits for the server where that is not
// there yet.
func (b *bed) agent(host int) *run {
	b.t.Helper()
	var a *run
	b.t.Cleanup(func() { // once it has ended
		for _, fault := range []string{"DATA RACE", "panic: ", "fatal error: "} {
			if bytes.Contains(a.stderr.Bytes(), []byte(fault)) {
				b.t.Errorf("the agent of %s: %s", b.Host(host).Name, a.stderr.Bytes())
			}
		}
	})
	a = startProgram(b.t, b.program, b.Host(host).Command, b.t.TempDir(), append([]string{"agent", "--nats-url", b.url}, b.files...)...)
	return a
}

// lead starts a command that leads runs on the agents' hosts.
func (b *bed) lead(args ...string) *run {
	b.t.Helper()
	args = append(args, "--agents", b.url, "--quiet")
	return startProgram(b.t, b.program, b.Host(b.agents+1).Command, b.dir, append(args, b.files...)...)
}

// run leads one run on that many hosts.
func (b *bed) run(agents int, args ...string) (*runs.Result, int) {
	b.t.Helper()
	r := b.lead(append([]string{"run", "--json", "--expect-agents", strconv.Itoa(agents)}, args...)...)
	code := r.wait(longest)
	return r.result(), code
}

// await waits for something that does not come where the process ends.
func (b *bed) await(what string, by *run, there func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(longest); !there(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-by.ended:
			b.t.Fatalf("%s has ended: %s", what, by.stderr.Bytes())
		default:
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s is not there after %v", what, longest)
		}
	}
}

// mend takes a host's link up, and returns once the hosts know each other's addresses
// again: until then the kernel refuses connections that it was asked for too early.
func (b *bed) mend(host int) {
	b.t.Helper()
	b.Host(host).Mend()
	for i := range b.Hosts {
		if i+1 == host {
			continue
		}
		for _, way := range [][2]*testkit.Host{{b.Host(host), b.Hosts[i]}, {b.Hosts[i], b.Host(host)}} {
			const nobody = 9 // no program listens there
			for deadline := time.Now().Add(longest); ; time.Sleep(100 * time.Millisecond) {
				why := connect(way[0], way[1].Address, nobody)
				if strings.Contains(why, "refused") {
					break
				}
				if time.Now().After(deadline) {
					b.t.Fatalf("%s does not reach %s: %s", way[0].Name, way[1].Name, why)
				}
			}
		}
	}
}

// connect connects a host to a port of another one, and says why it cannot; "" if it can.
func connect(from *testkit.Host, address string, port int) string {
	out, err := from.Command("bash", "-c", fmt.Sprintf("</dev/tcp/%s/%d", address, port)).CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%v: %s", err, out)
}

// received returns how many bytes have come to a host.
func (b *bed) received(host int) int {
	b.t.Helper()
	out, err := b.Host(host).Command("cat", "/proc/net/dev").Output()
	if err != nil {
		b.t.Fatal(err)
	}
	sum := 0
	for line := range bytes.Lines(out) {
		if name, counts, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(name)) != "lo" {
			n, err := strconv.Atoi(string(bytes.Fields(counts)[0]))
			if err != nil {
				b.t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

// spread checks that every node lived on a host, and every host had some.
func (b *bed) spread(key string, r *runs.Result) {
	b.t.Helper()
	var nodes []int
	for _, h := range r.Hosts {
		nodes = append(nodes, h.Nodes...)
		if len(h.Nodes) == 0 || h.Clock == nil {
			b.t.Errorf("%s: host %+v", key, h)
		}
	}
	slices.Sort(nodes)
	for i, id := range nodes {
		if id != i+1 {
			b.t.Fatalf("%s: nodes %v live on the hosts", key, nodes)
		}
	}
	if len(r.Hosts) != b.agents || len(nodes) != r.Nodes || len(r.Links) != b.agents*(b.agents-1) {
		b.t.Errorf("%s: %d hosts with %d links and %d nodes", key, len(r.Hosts), len(r.Links), len(nodes))
	}
}
