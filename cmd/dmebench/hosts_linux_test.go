package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/runs"
)

// algorithm is one with options that suit every number of nodes.
type algorithm struct{ name, set string }

func (a algorithm) yaml() string {
	if key, value, ok := strings.Cut(a.set, "="); ok {
		return fmt.Sprintf("{name: %s, set: {%s: %s}}", a.name, key, value)
	}
	return a.name
}

var across = []algorithm{{name: "ricart-agrawala"}, {"maekawa", "quorum=grid"}, {name: "raymond"}, {name: "chaudhuri-karaata"}}

// One experiment file, on this host alone and on four: mutual exclusion holds, and
// serial requests cost the same messages, entry by entry.
func TestAnExperimentAcrossHosts(t *testing.T) {
	testkit.TakesLong(t)
	b := newBed(t, 4)
	var files []string
	experiment := func(name string, algorithms []algorithm, nodes []int, network string) {
		var list []string
		for _, a := range algorithms {
			list = append(list, a.yaml())
		}
		text := fmt.Sprintf("schema_version: 1\nname: %s\nalgorithms: [%s]\nnodes: %s\ntransports: [%s]\nrepetitions: 1\n"+
			"workloads: [{name: serial, requests_per_node: 4}, {name: saturate, cs: 200us, requests_per_node: 10}]\n",
			name, strings.Join(list, ", "), strings.ReplaceAll(fmt.Sprint(nodes), " ", ", "), network)
		file := filepath.Join(b.dir, name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if testkit.Full() {
		for _, network := range []string{"tcp", "udp", "nats"} {
			experiment(network, across, []int{8, 13, 27}, network)
		}
	} else {
		experiment("tcp", []algorithm{across[0], across[3]}, []int{8}, "tcp")
		experiment("udp", across[1:2], []int{8}, "udp")
		experiment("nats", across[2:3], []int{8}, "nats")
		experiment("many", across[3:], []int{27}, "tcp")
	}
	for _, file := range files {
		here := start(t, b.dir, "sweep", "-f", file, "--out", "here", "--quiet")
		if code := here.wait(10 * longest); code != 0 {
			t.Fatalf("on one host: exit code %d: %s", code, here.stderr.Bytes())
		}
		there := b.lead("sweep", "-f", file, "--expect-agents", "4", "--out", "there")
		if code := there.wait(10 * longest); code != 0 {
			t.Errorf("%s: exit code %d: %s", file, code, there.stderr.Bytes())
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		b.compare(filepath.Join(b.dir, "here", name, "latest"), filepath.Join(b.dir, "there", name, "latest"))
	}
}

// tlsRecord is what a record of TLS has around what it holds, in bytes. With few and
// short frames to each write it tells whether connections were encrypted.
const tlsRecord = 22

// compare compares what came out on one host and on several.
func (b *bed) compare(here, there string) {
	b.t.Helper()
	one, several := byKey(b.t, here), byKey(b.t, there)
	if !slices.Equal(slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(several))) {
		b.t.Fatalf("%d runs on one host, %d on several", len(one), len(several))
	}
	for key, x := range several {
		b.spread(key, x)
		if x.Status != runs.OK || x.Safety.Violations != 0 || x.Entries != x.Requests {
			b.t.Errorf("%s: status %s: %s; %d entries of %d requests, safety %+v", key, x.Status, x.Error, x.Entries, x.Requests, x.Safety)
		}
		if x.Workload != "serial" {
			continue
		}
		y := one[key]
		if x.Transport == "tcp" && (x.Wire.Bytes < tlsRecord*x.Wire.Writes || y.Wire.Bytes >= tlsRecord*y.Wire.Writes) {
			b.t.Errorf("%s: %d bytes in %d writes on one host, and %d in %d between hosts, where they are to be encrypted",
				key, y.Wire.Bytes, y.Wire.Writes, x.Wire.Bytes, x.Wire.Writes)
		}
		if x.Messages.Total != y.Messages.Total || !maps.Equal(x.Messages.ByKind, y.Messages.ByKind) ||
			!maps.Equal(x.Messages.PerEntry, y.Messages.PerEntry) || x.Messages.Total == 0 {
			b.t.Errorf("%s: messages\n%+v on one host,\n%+v on several", key, y.Messages, x.Messages)
		}
	}
}

// byKey reads the results of a sweep, in which each cell was run once.
func byKey(t *testing.T, dir string) map[string]*runs.Result {
	t.Helper()
	set, err := runs.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]*runs.Result)
	for _, r := range set.Runs {
		list[runs.KeyOf(r.Result.Asked()).String()] = r.Result
	}
	return list
}

// An algorithm that is made for nodes that crash goes on without a host that is cut off:
// its nodes are taken for crashed, and the others enter as before. Nothing confirms that
// its workers have ended, so nobody can tell whether mutual exclusion held.
func TestARunGoesOnWithoutAHost(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	const cut = 2
	b := newBed(t, 4)
	r := b.lead("run", "--json", "--expect-agents", "4", "-a", "ricart-agrawala-robust", "-n", "8", "--set", "bound=2s", "--cs", "200us",
		"--duration", "24s")
	quiet := b.received(cut)
	b.await("the run", r, func() bool { return b.received(cut) > quiet+1<<18 })
	b.Host(cut).Cut()
	code := r.wait(longest)
	x := r.result()
	b.spread("the run", x)
	var lost []int
	for _, h := range x.Hosts {
		if h.Address == b.Host(cut).Address {
			lost = h.Nodes
		}
	}
	if code != 2 || x.Status != runs.Failed || x.Safety.Undecided == 0 || x.Safety.Violations != 0 || len(x.Faults) != 1 {
		t.Fatalf("exit code %d, status %s: %s; safety %+v, faults %+v\n%s", code, x.Status, x.Error, x.Safety, x.Faults, r.stderr.Bytes())
	}
	f := x.Faults[0]
	if f.What != "kill" || !slices.Equal(f.Nodes, lost) || f.RecoveredNS == nil {
		t.Errorf("nodes %v were lost, and the result tells of %+v", lost, f)
	}
	if !slices.ContainsFunc(x.Warnings, func(w string) bool { return strings.Contains(w, b.Host(cut).Name) }) {
		t.Errorf("no warning names the host: %q", x.Warnings)
	}
}

// Where the link of a host is cut in the middle of a run, the run ends soon and names
// the host and its nodes. The others are free for the next run; once the link is mended,
// so is that host.
func TestAHostIsCutOff(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	const cut = 3
	// How long a host may be silent, and how long the end of a run may take then.
	const soon = 30 * time.Second
	b := newBed(t, 4)
	networks := []string{"tcp"}
	if testkit.Full() {
		networks = []string{"tcp", "udp", "nats"}
	}
	for _, network := range networks {
		r := b.lead("run", "--json", "--expect-agents", "4", "-a", "ricart-agrawala", "-n", "8", "--transport", network, "--duration", "10m")
		quiet := b.received(cut)
		b.await("the run", r, func() bool { return b.received(cut) > quiet+1<<20 }) // frames flow
		b.Host(cut).Cut()
		begin := time.Now()
		code := r.wait(longest)
		if d := time.Since(begin); d > soon {
			t.Errorf("%s: it has taken %v", network, d)
		}
		x := r.result()
		var nodes []int
		name := ""
		for _, h := range x.Hosts {
			if h.Address == b.Host(cut).Address {
				nodes, name = h.Nodes, h.Name
			}
		}
		if code != 2 || x.Status != runs.Failed || x.Entries == 0 || x.Safety.Violations != 0 || name == "" ||
			!strings.Contains(x.Error, name) || !slices.Equal(x.FailedNodes, nodes) {
			t.Errorf("%s: exit code %d, status %s, failed nodes %v, %d entries, safety %+v: %s\n%s",
				network, code, x.Status, x.FailedNodes, x.Entries, x.Safety, x.Error, r.stderr.Bytes())
		}
		for _, mended := range []bool{false, true} {
			agents := 3
			if mended {
				b.mend(cut)
				agents = 4
			}
			x, code := b.run(agents, "-a", "raymond", "-n", "8", "--requests", "80", "--transport", network)
			if code != 0 || len(x.Hosts) != agents {
				t.Errorf("%s: the next run, on %d hosts: exit code %d, status %s: %s", network, len(x.Hosts), code, x.Status, x.Error)
			}
		}
	}
}

// A sweep waits for an agent that is killed in its middle, and for a broker: it says so, and goes on
// once others are in their places. The runs that were under way may fail, no others.
func TestASweepWaitsForItsHosts(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	const repetitions = 6
	b := newBed(t, 2)
	said := filepath.Join(b.dir, "said")
	s := startProgram(t, "bash", b.Host(3).Command, b.dir, "-c", fmt.Sprintf("exec %s sweep -a raymond -n 4 --transport tcp --cs 1ms "+
		"--requests-per-node 250 --repetitions %d --name long --out . --agents %s --expect-agents 2 --creds broker/creds 2>%s",
		b.program, repetitions, b.url, said))
	count := func(what, file string) int {
		text, _ := os.ReadFile(file) // empty as long as it is not there
		return strings.Count(string(text), what)
	}
	stored := func() int { return count("\n", filepath.Join(b.dir, "long", "latest", "runs.jsonl")) }
	waits := func() int { return count("; waiting for up to ", said) }
	for _, part := range []struct {
		kill    *run
		replace func()
	}{{b.offers[0], func() { b.agent(1) }}, {b.broker, b.serve}} {
		before, waited := stored(), waits()
		b.await("another run", s, func() bool { return stored() >= before+2 }) // the first line is no run
		part.kill.cmd.Process.Kill()
		b.await("the wait", s, func() bool { return waits() > waited })
		part.replace()
	}
	code := s.wait(longest)
	set, err := runs.Read(filepath.Join(b.dir, "long", "latest"))
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, x := range set.Runs {
		if r := x.Result; r.Status == runs.Failed {
			failed++
		} else if r.Status != runs.OK || r.Entries != 1000 || len(r.Hosts) != 2 {
			t.Errorf("status %s: %s; %d entries on %d hosts", r.Status, r.Error, r.Entries, len(r.Hosts))
		}
	}
	if len(set.Runs) != repetitions || failed > 2 || (code == 0) != (failed == 0) {
		text, _ := os.ReadFile(said)
		t.Errorf("%d runs, of which %d failed, exit code %d\n%s", len(set.Runs), failed, code, text)
	}
}

// Two hosts lose the path between them, while both reach the broker and all others: the run
// stands still, and the network is to blame, whose link is named. That is so for an
// algorithm that goes on without nodes that crash, too.
func TestAPairOfHostsIsParted(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	b := newBed(t, 3)
	for _, algorithm := range []string{"ricart-agrawala", "maekawa"} {
		r := b.lead("run", "--json", "--expect-agents", "3", "-a", algorithm, "-n", "6", "--cs", "1ms", "--duration", "10m",
			"--stall-after", "4s")
		quiet := b.received(2)
		b.await("the run", r, func() bool { return b.received(2) > quiet+1<<20 }) // frames flow
		parted := b.Host(3).Address
		b.ip(2, "route", "add", "blackhole", parted)
		code := r.wait(longest)
		b.ip(2, "route", "del", "blackhole", parted)
		x := r.result()
		if code != 2 || x.Status != runs.Failed || x.Liveness.Stalled || x.Safety.Violations != 0 {
			t.Errorf("%s: exit code %d, status %s, safety %+v: %s", algorithm, code, x.Status, x.Safety, x.Error)
		}
		_, held, _ := strings.Cut(x.Error, "the network holds messages: ")
		held, _, _ = strings.Cut(held, "; repair")
		for link := range strings.SplitSeq(held, "; ") {
			if !strings.Contains(link, "host h2) to node ") || !strings.HasSuffix(link, "host h3)") {
				t.Errorf("%s: %q is held: %s", algorithm, link, x.Error)
			}
		}
	}
}

// ip runs ip(8) on a host.
func (b *bed) ip(host int, args ...string) {
	b.t.Helper()
	if out, err := b.Host(host).Command("ip", args...).CombinedOutput(); err != nil {
		b.t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// Clocks that are off, one by 50 ms and one by as much in the other direction, are
// found within their bounds. No overlap is seen where there is none, although critical
// sections are shorter than what the clocks are off by. A delay between hosts is told
// with its bound where that is shorter, and not at all where it is not.
func TestClocksThatAreOff(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	const off, delay = 50 * time.Millisecond, 10 * time.Millisecond
	ahead := []time.Duration{0, -off, off, 0}
	b := newBed(t, len(ahead), testkit.ClockAhead(2, ahead[1]), testkit.ClockAhead(3, ahead[2]))
	r, code := b.run(4, "-a", "raymond", "-n", "8", "--requests", "80", "--cs", "500us", "--resource", "nats",
		"--set", "delay="+delay.String())
	if code != 0 || r.Status != runs.OK || r.Safety.Violations != 0 || r.Entries != 80 {
		t.Fatalf("exit code %d, status %s: %s; %d entries, safety %+v", code, r.Status, r.Error, r.Entries, r.Safety)
	}
	b.spread("the run", r)
	offset := make(map[string]time.Duration)
	for i := range ahead {
		offset[b.Host(i+1).Address] = ahead[i]
	}
	at := make(map[string]time.Duration)
	for _, h := range r.Hosts {
		at[h.Name] = offset[h.Address]
		if h.Clock == nil || h.Clock.BoundNS <= 0 || h.Clock.BoundNS >= int64(off) ||
			math.Abs(float64(h.Clock.OffsetNS-int64(at[h.Name]))) > float64(h.Clock.BoundNS) {
			t.Errorf("host %s is %v ahead, and said to be %+v", h.Name, at[h.Name], h.Clock)
		}
	}
	for _, l := range r.Links {
		between := at[l.To] - at[l.From]
		if l.BoundNS == nil || *l.BoundNS >= int64(off) || math.Abs(float64(l.OffsetNS-int64(between))) > float64(*l.BoundNS) {
			t.Errorf("%s is %v ahead of %s, and said to be %+v", l.To, between, l.From, l)
		}
	}
	if s := r.Safety.Resource; s == nil || s.Updates != 80 || s.LostUpdates != 0 {
		t.Errorf("resource %+v", s)
	}
	switch sd := r.SyncDelay; {
	case r.SyncDelayBound == nil || r.SyncDelayLoad == nil:
		t.Errorf("bound %v, by throughput %v", r.SyncDelayBound, r.SyncDelayLoad)
	case sd == nil:
		// Nothing is told where the machine was so busy that the clocks are not known
		// well enough; the least delay is that of a message.
		if *r.SyncDelayBound < int64(delay) || r.SyncDelayOverT != nil || r.Histograms.SyncDelay != "" {
			t.Errorf("the delays of ±%d ns are not told; over T %v, histogram %q", *r.SyncDelayBound, r.SyncDelayOverT, r.Histograms.SyncDelay)
		}
	case sd.P50 < int64(delay)-*r.SyncDelayBound || *r.SyncDelayBound > sd.P50:
		t.Errorf("synchronization delay %+v ± %d ns, and a message takes %v at least", sd, *r.SyncDelayBound, delay)
	}
	for _, w := range r.Warnings {
		if strings.Contains(w, "negative") {
			t.Error(w)
		}
	}

	// Where a paper's text does let two in, they are seen.
	r, code = b.run(4, "-a", "singhal-as-published", "-n", "8", "--requests", "400", "--cs", "2ms", "--resource", "nats")
	s := r.Safety.Resource
	if code != 1 || r.Status != runs.Violated || s == nil || s.LostUpdates == 0 || r.Safety.Violations < s.LostUpdates {
		t.Fatalf("a wrong text: exit code %d, status %s: %s; safety %+v, resource %+v", code, r.Status, r.Error, r.Safety, s)
	}
	met := func(l runs.LostUpdate) bool {
		host := func(node int) int {
			return slices.IndexFunc(r.Hosts, func(h runs.Host) bool { return slices.Contains(h.Nodes, node) })
		}
		bound := r.Hosts[host(l.Node)].Clock.BoundNS + r.Hosts[host(l.Other)].Clock.BoundNS
		return l.EnteredNS < l.OtherExited+bound && l.OtherEntered < l.ExitedNS+bound
	}
	for _, l := range s.Lost {
		if !met(l) {
			t.Errorf("an update was lost between critical sections that were apart: %+v", l)
		}
	}
}
