package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/runs"
)

var (
	soakRuns = flag.Int("soak-runs", 20, "with -full: runs of the soak for each kind of trouble")
	soakOnly = flag.String("soak-only", "", "with -full: the kinds of trouble whose name has this in it")
	soakSeed = flag.Uint64("soak-seed", 1, "what the soak draws its loads and moments from")
)

const (
	soakHosts = 3
	// sideBySide is how many runs of the soak go on at once: they mostly wait.
	sideBySide = 6
	// noneLeft is within what a run's processes have ended: after the lease of their
	// agent, and what it takes to notice.
	noneLeft = 25 * time.Second
)

// Three hosts meet with trouble from outside while a run goes on: whatever its result
// says is compared with what the nodes have written to files. No run is ok in which two
// were inside at once, or violated in which they were not; none is stalled, which would
// blame the algorithm; no host is named that nothing was done to; and no process stays.
// With DMEBENCH_TESTS=full, 20 runs of each kind:
//
//	DMEBENCH_TESTS=full go test ./cmd/dmebench -run TestSoakOverHosts -timeout 60m -v
func TestSoakOverHosts(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	kinds, runs := []string{agentStopped, coordinatorKilled}, 1
	loads := soakLoads[:1]
	if testkit.Full() {
		kinds, runs, loads = nil, *soakRuns, soakLoads
		for _, kind := range troubles {
			if strings.Contains(kind, *soakOnly) {
				kinds = append(kinds, kind)
			}
		}
	}
	t.Logf("seed %d", *soakSeed)
	var jobs []*soak
	for i := range runs {
		for _, kind := range kinds {
			k := slices.Index(troubles, kind) // the same run, whichever others are asked for
			rng := rand.New(rand.NewPCG(*soakSeed, uint64(i*len(troubles)+k)))
			s := &soak{kind: kind, rng: rng, load: loads[(i+k)%len(loads)]}
			if jobs = append(jobs, s); !testkit.Full() {
				s.load.span = 0
			}
		}
	}
	queue := make(chan *soak)
	var all sync.WaitGroup
	for range min(sideBySide, len(jobs)) {
		all.Go(func() {
			for s := range queue {
				t.Run(s.kind+", "+s.load.name, s.run)
			}
		})
	}
	for _, s := range jobs {
		queue <- s
	}
	close(queue)
	all.Wait()
	counts := make(map[string]int)
	for _, s := range jobs {
		counts[s.kind+": "+s.status]++
	}
	t.Logf("%d hosts, seed %d: %v", soakHosts, *soakSeed, counts)
}

// load is what goes on while trouble comes.
type load struct {
	name string
	args string
	span time.Duration // after the first entry, within which trouble comes
}

// Critical sections are so long that another node would be let in meanwhile. The first
// load is a node inside for longer than it takes until its host is given up, and one
// that waits for it.
var soakLoads = []load{
	{"maekawa, two long sections", "-a logged-maekawa -n 7 --workload trace --set file=two.csv --cs 11s --stall-after 30s", 8 * time.Second},
	{"maekawa", "-a logged-maekawa -n 7 --cs exp:400ms --duration 15s --stall-after 6s", 10 * time.Second},
	{"robust", "-a logged-ricart-agrawala-robust -n 6 --set bound=1s --cs 300ms --duration 15s --stall-after 8s", 10 * time.Second},
	{"raymond", "-a logged-raymond -n 6 --cs 100ms --duration 12s", 8 * time.Second},
	{"robust, long sections", "-a logged-ricart-agrawala-robust -n 5 --set bound=500ms --cs exp:3s --duration 20s --stall-after 30s",
		10 * time.Second},
	{"centralized", "-a logged-centralized -n 6 --workload poisson --total-rate 3 --cs exp:200ms --duration 12s", 8 * time.Second},
	// Every pair of hosts matters to these, and both wait for less long than hosts are parted.
	{"ricart-agrawala", "-a logged-ricart-agrawala -n 6 --cs 100ms --duration 12s --stall-after 3s", 8 * time.Second},
	{"suzuki-kasami", "-a logged-suzuki-kasami -n 6 --cs exp:200ms --duration 12s --stall-after 4s", 8 * time.Second},
	{"agrawal-el-abbadi", "-a logged-agrawal-el-abbadi -n 7 --cs exp:1s --duration 15s --stall-after 15s", 10 * time.Second},
}

// soak is one run, and what came of it.
type soak struct {
	kind string
	load load
	rng  *rand.Rand

	bed      *bed
	lead     *run
	did      []string // what was done to the run
	struck   []string // the hosts to which it was done; none where all could suffer
	status   string
	overlaps []string
	wrong    []string
	left     []string
}

func (s *soak) run(t *testing.T) {
	s.bed = newBedOf(t, "soaked", soakHosts)
	s.status = "none"
	// In the middle of the first section, which another node waits to enter.
	trace := "0,1\n0.5,3\n"
	if err := os.WriteFile(filepath.Join(s.bed.dir, "two.csv"), []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	network := []string{"tcp", "tcp", "udp", "nats"}[s.rng.IntN(4)]
	args := append(strings.Fields(s.load.args), "--json", "--expect-agents", fmt.Sprint(soakHosts), "--transport", network,
		"--seed", fmt.Sprint(1+s.rng.IntN(1000)))
	s.lead = s.bed.lead(append([]string{"run"}, args...)...)
	s.did = append(s.did, network, "seed "+args[len(args)-1])

	s.bed.await("the first entry", s.lead, func() bool { return len(s.files()) > 0 })
	first := time.Now()
	after := 1500 * time.Millisecond
	if s.load.span > 0 {
		after = time.Duration(s.rng.Int64N(int64(s.load.span)))
	}
	s.hold(after)
	s.did = append(s.did, fmt.Sprintf("after %v", time.Since(first).Round(time.Millisecond)))
	s.strike()
	code := s.lead.wait(longest)
	took := time.Since(first)
	s.leftovers()
	s.overlaps = overlaps(s.intervals())
	x := s.judge(code)
	if len(s.wrong)+len(s.left) > 0 {
		detail := ""
		if x != nil {
			detail = fmt.Sprintf("%s; %d entries of %d requests, safety %+v, failed nodes %v\n  warnings %q",
				x.Error, x.Entries, x.Requests, x.Safety, x.FailedNodes, x.Warnings)
		}
		t.Errorf("%s: %s: exit code %d after %v: %s %s\n  wrong %q\n  left %q\n  overlaps %q\n  inside %v\n  %s",
			s.load.args, strings.Join(s.did, ", "), code, took, s.status, detail, s.wrong, s.left, s.overlaps, s.intervals(),
			s.lead.stderr.Bytes())
	}
}

// hold waits, unless the run ends before.
func (s *soak) hold(d time.Duration) {
	select {
	case <-s.lead.ended:
	case <-time.After(d):
	}
}

// The kinds of trouble.
const (
	agentStopped      = "agent stopped"
	linkCut2          = "link cut 2s"
	linkCut20         = "link cut 20s"
	pairParted        = "pair parted"
	agentKilled       = "agent killed"
	brokerKilled      = "broker killed"
	coordinatorKilled = "coordinator killed"
)

var troubles = []string{agentStopped, linkCut2, linkCut20, pairParted, agentKilled, brokerKilled, coordinatorKilled}

// strike does to the run what its kind says. It returns once that is over, or the run is.
func (s *soak) strike() {
	b := s.bed
	host := 1 + s.rng.IntN(soakHosts)
	if s.load.span == 0 {
		host = 1 // of node 1, which is inside
	}
	note := func(format string, args ...any) { s.did = append(s.did, fmt.Sprintf(format, args...)) }
	cut := func(d time.Duration) {
		host := 1 + s.rng.IntN(soakHosts+1) // or that of the coordinator and the broker
		note("%s cut", b.Host(host).Name)
		if host <= soakHosts {
			s.struck = []string{b.Host(host).Name}
		}
		b.Host(host).Cut()
		s.hold(d)
		b.Host(host).Mend()
	}
	switch s.kind {
	case agentStopped:
		agent := b.offers[host-1].cmd.Process
		note("%s stopped", b.Host(host).Name)
		s.struck = []string{b.Host(host).Name}
		strikeBy(b.t, agent.Pid, syscall.SIGSTOP)
		if d := []time.Duration{0, 3 * time.Second, 9 * time.Second, 16 * time.Second}[s.rng.IntN(4)]; d > 0 && s.load.span > 0 {
			note("for %v", d)
			s.hold(d)
			strikeBy(b.t, agent.Pid, syscall.SIGCONT)
		}
	case linkCut2:
		cut(2 * time.Second)
	case linkCut20:
		cut(20 * time.Second)
	case pairParted:
		other := host%soakHosts + 1
		way := [][2]int{{host, other}, {other, host}}
		// Either the sender is told, or what it sends goes to nobody.
		do, undo := "ip route add blackhole %s/32", "ip route del blackhole %s/32"
		if s.rng.IntN(2) == 0 {
			do, undo = "ip neigh replace %s lladdr 02:00:00:00:00:99 dev eth0 nud permanent", "ip neigh del %s dev eth0"
		}
		d := []time.Duration{4 * time.Second, 16 * time.Second, time.Minute}[s.rng.IntN(3)]
		note("%s and %s parted for %v by %s", b.Host(host).Name, b.Host(other).Name, d, do)
		s.struck = []string{b.Host(host).Name, b.Host(other).Name}
		for _, w := range way {
			b.do(w[0], do, b.Host(w[1]).Address)
		}
		s.hold(d)
		for _, w := range way {
			b.do(w[0], undo, b.Host(w[1]).Address)
		}
	case agentKilled:
		note("agent of %s killed", b.Host(host).Name)
		s.struck = []string{b.Host(host).Name}
		strikeBy(b.t, b.offers[host-1].cmd.Process.Pid, syscall.SIGKILL)
	case brokerKilled:
		strikeBy(b.t, b.broker.cmd.Process.Pid, syscall.SIGKILL)
	case coordinatorKilled:
		select {
		case <-s.lead.ended: // its number may be another's
		default:
			strikeBy(b.t, s.lead.cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

func strikeBy(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// do runs a command about an address on a host.
func (b *bed) do(host int, format, address string) {
	b.t.Helper()
	words := strings.Fields(fmt.Sprintf(format, address))
	if out, err := b.Host(host).Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		b.t.Fatalf("%q on %s: %v\n%s", words, b.Host(host).Name, err, out)
	}
}

// files lists what processes have written of their entries.
func (s *soak) files() (all []string) {
	for _, agent := range s.bed.offers {
		names, _ := filepath.Glob(filepath.Join(agent.dir, "*.entries"))
		all = append(all, names...)
	}
	return all
}

// alive reports whether a process is there, and not only to be reaped.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := bytes.Cut(stat, []byte(") "))
	return err == nil && ok && rest[0] != 'Z' && rest[0] != 'X'
}

// leftovers waits until nothing is left on the hosts but their agents and the broker.
// An agent that stands still goes on only afterwards: its workers end without it.
func (s *soak) leftovers() {
	b := s.bed
	meant := make(map[int]bool)
	for _, p := range append(slices.Clone(b.offers), b.broker) {
		meant[p.cmd.Process.Pid] = true
	}
	networks := make(map[string]string)
	for _, h := range b.Hosts {
		name, err := h.Command("readlink", "/proc/self/ns/net").Output()
		if err != nil {
			b.t.Fatal(err)
		}
		networks[strings.TrimSpace(string(name))] = h.Name
	}
	for deadline := time.Now().Add(noneLeft); ; time.Sleep(100 * time.Millisecond) {
		s.left = nil
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			var pid int
			fmt.Sscanf(dir, "/proc/%d", &pid)
			network, _ := os.Readlink(dir + "/ns/net")
			if host, ok := networks[network]; ok && !meant[pid] && alive(pid) {
				args, _ := os.ReadFile(dir + "/cmdline")
				s.left = append(s.left, fmt.Sprintf("%s: %d %s", host, pid, bytes.ReplaceAll(args, []byte{0}, []byte(" "))))
			}
		}
		if len(s.left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if s.kind == agentStopped {
		for _, a := range b.offers {
			_ = syscall.Kill(a.cmd.Process.Pid, syscall.SIGCONT)
		}
	}
}

// stay is one critical section, from when it was entered until it was left, or its node
// said for the last time that it was inside.
type stay struct {
	node     int
	from, to int64
	ended    string // how, where not by an exit
}

// String gives times modulo 1000 s, in ms.
func (s stay) String() string {
	const wrap = int64(1000 * time.Second)
	return fmt.Sprintf("%d: %d-%d%s", s.node, s.from%wrap/1e6, s.to%wrap/1e6, s.ended)
}

// intervals reads what the nodes have written, by time of entry.
func (s *soak) intervals() []stay {
	var all []stay
	for _, name := range s.files() {
		text, err := os.ReadFile(name)
		if err != nil {
			s.bed.t.Fatal(err)
		}
		open := make(map[int]int)
		for line := range strings.Lines(string(text)) {
			var at int64
			var what string
			var node int
			if _, err := fmt.Sscan(line, &at, &what, &node); err != nil {
				s.bed.t.Fatalf("%s: %q: %v", name, line, err)
			}
			if what == "enter" {
				open[node] = len(all)
				all = append(all, stay{node, at, at, " ended inside"})
			}
			k := open[node]
			if all[k].to = at; what == "exit" {
				all[k].ended = ""
			}
		}
	}
	slices.SortFunc(all, func(a, b stay) int { return int(a.from - b.from) })
	return all
}

// overlaps lists the pairs of critical sections that were not apart.
func overlaps(stays []stay) (pairs []string) {
	for i, a := range stays {
		for _, b := range stays[i+1:] {
			if by := min(a.to, b.to) - b.from; by > 0 {
				pairs = append(pairs, fmt.Sprintf("[%v] and [%v] by %v", a, b, time.Duration(by).Round(time.Millisecond)))
			}
		}
	}
	return pairs
}

// judge compares what the run says with what was written.
func (s *soak) judge(code int) *runs.Result {
	blame := func(when bool, format string, args ...any) {
		if when {
			s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
		}
	}
	x, err := decode(s.lead.stdout.Bytes())
	if err != nil {
		blame(s.kind != coordinatorKilled, "no result: %v", err)
		return nil
	}
	s.status = string(x.Status)
	if x.Safety.Undecided > 0 && (x.Status == runs.OK || x.Status == runs.Failed) {
		s.status = "undecided"
	}
	met := len(s.overlaps) > 0
	blame(x.Status == runs.Stalled, "stalled, though the algorithm is not to blame")
	blame(s.status == "ok" && met, "ok, though two were inside at once")
	blame(x.Status == runs.Violated && !met, "violated, though no two were inside at once")
	blame(x.Safety.Violations > 0 && !met, "violations, though no two were inside at once")
	blame(code == 0 && s.status != "ok" && met, "exit code 0, though two were inside at once")
	for _, h := range x.Hosts {
		for _, id := range h.Nodes {
			innocent := len(s.struck) > 0 && !slices.Contains(s.struck, h.Name) && slices.Contains(x.FailedNodes, id)
			blame(innocent, "node %d of host %s is said to have failed", id, h.Name)
		}
	}
	want := map[runs.Status][]int{runs.OK: {0, 2}, runs.Failed: {2}, runs.Violated: {1}, runs.Stalled: {1, 2}}
	blame(!slices.Contains(want[x.Status], code), "%s with exit code %d", x.Status, code)
	return x
}
